import { describe, expect, it } from "vitest";

import { createKeyring, open, seal, sign, verify, type Header } from "../src/index.ts";
import { aesGcm, nodeMac } from "../src/node.ts";
import { refusal, refusalCode } from "./refusal.ts";

const key = new Uint8Array(32).fill(1);
const keyring = createKeyring({ current: { id: "k1", key }, mac: nodeMac });
const options = { keyring, purpose: "checkpoint" };
const header: Header = { run: "run_1", revision: 7, paused: true, parent: null };
const value = { a: [1, "two", null], when: new Date(0), quote: '"\\\n' };
const text = seal(value, { ...options, header });

describe("secrecy", () => {
  const secret = createKeyring({ current: { id: "k1", key }, mac: nodeMac, cipher: aesGcm });
  const hidden = { keyring: secret, purpose: "checkpoint" };

  it("SEAL-34 makes the body unreadable and opens it again", () => {
    const sealed = seal({ name: "Dana", items: [1] }, { ...hidden, header });
    expect(sealed).toMatch(/^\{"v":2,/);
    expect(sealed).not.toMatch(/Dana|items/);
    expect(open(sealed, hidden)).toMatchObject({ value: { name: "Dana", items: [1] }, header });
    expect(seal({ name: "Dana", items: [1] }, { ...hidden, header })).not.toBe(sealed);
    expect(secret.secret).toBe(true);
    expect(keyring.secret).toBe(false);
  });

  it("SEAL-34 covers the enciphered body by the MAC, and the cipher has its own tag", () => {
    const sealed = JSON.parse(sign("hello", hidden).text) as { body: string };
    for (let i = 0; i < sealed.body.length; i++) {
      const flipped = `${sealed.body.slice(0, i)}${sealed.body[i] === "A" ? "B" : "A"}${sealed.body.slice(i + 1)}`;
      expect(refusalCode(() => verify(JSON.stringify({ ...sealed, body: flipped }), hidden))).toBe(
        "checkpoint-tampered",
      );
    }
    const cipher = aesGcm.prepare(new Uint8Array(32));
    const bytes = cipher.encrypt(Uint8Array.of(1, 2, 3));
    expect([...cipher.decrypt(bytes)]).toEqual([1, 2, 3]);
    bytes[bytes.length - 1]! ^= 1;
    expect(() => cipher.decrypt(bytes)).toThrow(Error);
    expect(() => cipher.decrypt(new Uint8Array(27))).toThrow(/shorter/);
    expect(cipher.decrypt(cipher.encrypt(new Uint8Array()))).toHaveLength(0);
  });

  it("SEAL-34 gives back the very text that a cipher gives back, and refuses bytes that are none", () => {
    const asked: unknown[] = [];
    let given: (plain: Uint8Array) => Uint8Array = (plain) => plain;
    const plainly = createKeyring({
      current: { id: "k1", key },
      mac: nodeMac,
      cipher: {
        prepare: () => ({
          encrypt: (plain) => plain,
          decrypt: (sealed) => (asked.push(sealed), given(sealed)),
        }),
      },
    });
    const own = { keyring: plainly, purpose: "checkpoint" };
    for (const body of ["", "\ufeffmarked", "é😀"])
      expect(verify(sign(body, own).text, own).body).toBe(body);
    given = () => Uint8Array.of(0x61, 0xff);
    expect(refusalCode(() => verify(sign("x", own).text, own))).toBe("checkpoint-tampered");
    expect(asked).toHaveLength(4);
  });

  it("SEAL-34 says when the ring has no cipher for an enciphered body", () => {
    const sealed = sign("hello", hidden).text;
    const error = refusal(() => verify(sealed, options));
    expect([error.code, error.keyId]).toEqual(["cipher-missing", "k1"]);
  });

  it("SEAL-34 opens plain seals of before the cipher was set", () => {
    expect(open(text, hidden).value).toEqual(value);
  });

  it("SEAL-34 refuses as tampered what its cipher can't decipher, without the cipher's own words", () => {
    const broken = createKeyring({
      current: { id: "k1", key },
      mac: nodeMac,
      cipher: {
        prepare: () => ({
          encrypt: (plain) => plain,
          decrypt: () => {
            throw new Error("key material");
          },
        }),
      },
    });
    const sealed = sign("hello", { ...hidden, keyring: broken }).text;
    const error = refusal(() => verify(sealed, { ...hidden, keyring: broken }));
    expect([error.code, error.cause]).toEqual(["checkpoint-tampered", undefined]);
  });

  it("SEAL-34 refuses an enciphered body that is no base64, though it was signed", () => {
    const raw = createKeyring({
      current: { id: "k1", key },
      cipher: { prepare: () => ({ encrypt: (plain) => plain, decrypt: (sealed) => sealed }) },
    });
    const sealed = sign("hello", { keyring: raw, purpose: "checkpoint" });
    expect(verify(sealed.text, { keyring: raw, purpose: "checkpoint" }).body).toBe("hello");
    expect(
      refusalCode(() =>
        verify(sealed.text.replace(/"body":"[^"]*"/, '"body":"a"'), {
          keyring: raw,
          purpose: "checkpoint",
        }),
      ),
    ).toBe("checkpoint-tampered");
  });
});

describe("a signed body that its own ring can't have written", () => {
  it("SEAL-34 refuses an enciphered body that is no base64 under a good MAC", async () => {
    const { hkdfSync } = await import("node:crypto");
    const derived = Buffer.from(hkdfSync("sha256", key, "holdpoint-seal", "v1 mac checkpoint", 32));
    const mac = nodeMac.prepare(derived)("holdpoint-seal\n2\ncheckpoint\nk1\n2\n{}\n3\n", "a=b");
    const forged = `{"v":2,"purpose":"checkpoint","kid":"k1","body":"a=b","mac":"${mac}"}`;
    const secret = createKeyring({ current: { id: "k1", key }, mac: nodeMac, cipher: aesGcm });
    expect(refusalCode(() => verify(forged, { keyring: secret, purpose: "checkpoint" }))).toBe(
      "checkpoint-tampered",
    );
    expect(refusalCode(() => verify(forged, options))).toBe("cipher-missing");
  });
});
