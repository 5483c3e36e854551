import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import {
  canonicalize,
  createKeyring,
  decode,
  digest,
  encode,
  sign,
  verify,
  type Header,
} from "../src/index.ts";
import { describeValue } from "./describe-value.ts";
import {
  canonicalIndependently,
  parseIndependently,
  readIndependently,
} from "./independent-reader.ts";
import { refusalCode } from "./refusal.ts";
import { evaluate } from "./vectors.ts";

function published<Row>(name: string): Row[] {
  return JSON.parse(
    readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"),
  ) as Row[];
}

interface ValueRow {
  readonly name: string;
  readonly js: string;
  readonly text: string;
  readonly canonical: string;
  readonly digest: string;
}

interface SealRow {
  readonly name: string;
  readonly keyHex: string;
  readonly keyId: string;
  readonly purpose: string;
  readonly header: Header;
  readonly body: string;
  readonly mac: string;
  readonly text: string;
}

describe("published vectors, in every release the same", () => {
  it.each(published<ValueRow>("values"))("SEAL-51 CASE-098 value: $name", (row) => {
    const value = evaluate(row.js);
    expect([encode(value), canonicalize(value), digest(value)]).toEqual([
      row.text,
      row.canonical,
      row.digest,
    ]);
    expect(describeValue(decode(row.text))).toBe(describeValue(value));
    expect(describeValue(readIndependently(row.text))).toBe(describeValue(value));
    expect(canonicalIndependently(parseIndependently(row.text))).toBe(row.canonical);
  });

  it.each(published<SealRow>("seals"))(
    "SEAL-51 CASE-098 seal: $name",
    ({ keyHex, keyId, purpose, header, body, mac, text }) => {
      const key = Uint8Array.from(Buffer.from(keyHex, "hex"));
      const keyring = createKeyring({ current: { id: keyId, key } });
      expect(sign(body, { keyring, purpose, header })).toEqual({ text, mac });
      expect(verify(text, { keyring, purpose })).toEqual({ body, header, keyId, mac });
    },
  );

  it.each(published<{ text: string; why: string }>("refused"))(
    "SEAL-51 SEAL-24 refused: $why ($text)",
    ({ text }) => {
      expect(refusalCode(() => decode(text))).toBe("seal-malformed");
    },
  );
});
