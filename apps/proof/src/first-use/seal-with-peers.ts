// With zod: an instance of a registered class comes back as one, under a cipher.
import { createKeyring, createSealer } from "@holdpoint/seal";
import { urlCodec } from "@holdpoint/seal/codecs/url";
import { aesGcm, nodeMac } from "@holdpoint/seal/node";
import { model } from "@holdpoint/seal/zod";
import * as z from "zod";

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

const money = model(Money, { name: "Money", fields: z.object({ cents: z.int() }) });
const sealer = createSealer({ models: [money] });
const keyring = createKeyring({
  current: { id: "2026", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
  cipher: aesGcm,
});

const price = { due: new Money(1234) };
const text = sealer.seal(price, { keyring, purpose: "checkpoint" });
if (text.includes("1234")) throw new Error("the body can be read");

const schema = z.object({ due: money.schema });
const { value } = sealer.open(text, { keyring, purpose: "checkpoint", schema });
const { due } = schema.parse(value);
if (!(due instanceof Money) || due.cents !== 1234) {
  throw new Error("the opened price differs");
}

const link = new URL("https://example.org/a");
if (!urlCodec.is(link) || urlCodec.decode(urlCodec.encode(link)).href !== link.href) {
  throw new Error("the link differs");
}
