import assert from "node:assert/strict";
import { createSealer, defineCodec } from "@holdpoint/seal";
import { decimalCodec } from "@holdpoint/seal/codecs/decimal";
import { urlCodec } from "@holdpoint/seal/codecs/url";
import { Decimal } from "decimal.js";

const regexpCodec = defineCodec({
  type: "regexp",
  is: (value) => value instanceof RegExp,
  encode: (pattern) => [pattern.source, pattern.flags],
  decode: ([source, flags]: string[]) => new RegExp(source ?? "", flags),
});

const sealer = createSealer({ codecs: [urlCodec, decimalCodec(Decimal), regexpCodec] });
const text = sealer.encode({ from: new URL("https://example.com/"), share: new Decimal("0.1") });
assert.equal(
  text,
  '{"from":{"$codec":["url","https://example.com/"]},"share":{"$codec":["decimal","1e-1"]}}',
);
assert.deepEqual(sealer.decode(sealer.encode([/a+/gi])), [/a+/gi]);
