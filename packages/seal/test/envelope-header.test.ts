import { describe, expect, it } from "vitest";

import { createKeyring, PURPOSES, seal, sign, verify, type Header } from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { refusal } from "./refusal.ts";

const key = new Uint8Array(32).fill(1);
const keyring = createKeyring({ current: { id: "k1", key }, mac: nodeMac });
const options = { keyring, purpose: PURPOSES.checkpoint };
const header: Header = { run: "run_1", revision: 7, paused: true, parent: null };
const value = { a: [1, "two", null], when: new Date(0), quote: '"\\\n' };
const text = seal(value, { ...options, header });
const tampered = refusal(() => verify("", options));

describe("the header of an envelope", () => {
  /** What somebody who has the key, and no writer of ours, could make: the MAC is right for whatever text the header has. */
  async function madeByHand(own: string): Promise<string> {
    const { createHmac, hkdfSync } = await import("node:crypto");
    const derived = Buffer.from(hkdfSync("sha256", key, "holdpoint-seal", "v1 mac checkpoint", 32));
    const input = `holdpoint-seal\n1\ncheckpoint\nk1\n${Buffer.byteLength(own)}\n${own}\n1\nx`;
    const mac = createHmac("sha256", derived).update(input).digest("base64url");
    return `{"v":1,"purpose":"checkpoint","kid":"k1",${own.slice(1, -1)},"body":"x","mac":"${mac}"}`;
  }

  it("SEAL-27 SEAL-28 takes no header under a right MAC that the writer would not write", async () => {
    expect(verify(await madeByHand('{"a":1,"b":"two"}'), options).header).toEqual({
      a: 1,
      b: "two",
    });
    const odd = [
      '{"b":1,"a":1}',
      '{"a":1,"a":1}',
      '{"a": 1}',
      '{"a":1.5}',
      '{"a":"\\u0041"}',
      '{"v":1}',
    ];
    const refuses = async (own: string): Promise<void> => {
      const made = await madeByHand(own);
      expect([own, refusal(() => verify(made, options))]).toEqual([own, tampered]);
    };
    for (const own of [
      ...odd,
      '{"a":{}}',
      '{"9":1}',
      '{"__proto__":1}',
      '{"a":"\\u0007"}',
      '{"a":[1]}',
      '{"a":}',
      '{"a"}',
    ])
      await refuses(own);
  });

  it("SEAL-27 says what a header can't hold", () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`n${i}`, i]));
    const bad: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ["a header has at most 32 members", many],
      ["header member mac is the envelope's own", { mac: 1 }],
      ["a header's names are 1 to 64 of A-Z a-z 0-9 _, a letter first", { "": 1 }],
      ["header member n is not a safe integer", { n: 1.5 }],
      ["header member n is not a safe integer", { n: -0 }],
      ["header member n is not a string, number, boolean or null", { n: [] }],
      ["header member n is longer than 1024 characters", { n: "x".repeat(1025) }],
      ["header member n holds a control character", { n: "\u007f" }],
      ["header member n holds a control character", { n: "\ud800" }],
    ];
    for (const [message, given] of bad) {
      const error = refusal(() => sign("x", { ...options, header: given as Header }));
      expect([error.code, error.message]).toEqual(["option-invalid", message]);
    }
    const largest = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`n${i}`, i]));
    const taken = { ...largest, n0: "x".repeat(1024), n1: Number.MIN_SAFE_INTEGER };
    expect(verify(sign("x", { ...options, header: taken }).text, options).header).toEqual(taken);
  });

  it("SEAL-27 looks at each name of a header, however many other names were good before", () => {
    for (let i = 0; i < 300; i++) {
      const given: Header = { [`name${i}`]: i, last: true };
      expect(verify(sign("x", { ...options, header: given }).text, options).header).toEqual(given);
    }
    for (const name of ["name 299", "299", "kid", `n${"x".repeat(64)}`]) {
      expect(refusal(() => sign("x", { ...options, header: { [name]: 1 } })).code).toBe(
        "option-invalid",
      );
    }
  });

  it("SEAL-27 SEAL-28 reads an envelope as written, and with the same members in any other spacing and order, as one", () => {
    const large = seal("x".repeat(40_000), { ...options, header });
    for (const written of [text, large, seal(1, options)]) {
      const known = verify(written, options);
      const all = Object.entries(JSON.parse(written) as object);
      expect(verify(JSON.stringify(Object.fromEntries(all.toReversed())), options)).toEqual(known);
      expect(verify(JSON.stringify(Object.fromEntries(all), null, 2), options)).toEqual(known);
    }
    const plain = seal(1, options);
    const between = [text.replace('"k1",', '"k1";'), plain.replace('"k1",', '"k1",,')];
    for (const bad of [...between, text.replace('"k1",', '"k1",,'), `${text.slice(0, -2)}"]`])
      expect(refusal(() => verify(bad, options))).toEqual(tampered);
  });

  it("SEAL-27 writes a long text and a short one alike, whatever its header's order is", () => {
    const long = JSON.stringify({ text: 'é\n"'.repeat(9_000) });
    const given: Header = { b: 'a "quoted" one', a: 1, C: null };
    const signed = sign(long, { ...options, header: given });
    expect(signed.text).toBe(
      `{"v":1,"purpose":"checkpoint","kid":"k1","C":null,"a":1,"b":"a \\"quoted\\" one","body":${JSON.stringify(long)},"mac":"${signed.mac}"}`,
    );
    expect(verify(signed.text, options)).toMatchObject({ body: long, header: given });
  });
});
