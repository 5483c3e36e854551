import { afterEach, describe, expect, it, vi } from "vitest";

import { createKeyring, keyringOf, seal, sign, verify } from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { verifiedAsWritten } from "../src/sealing/envelope.ts";
import { headerAsWritten, NO_HEADER } from "../src/sealing/header.ts";
import { placesOf, stringAt } from "../src/sealing/members.ts";
import { quoteSparse } from "../src/sealing/quote.ts";
import { refusal } from "./refusal.ts";

const key = new Uint8Array(32).fill(1);
const keyring = createKeyring({ current: { id: "k1", key }, mac: nodeMac });
const purpose = "checkpoint";
const options = { keyring, purpose };
const header = { paused: true, run: "run_1" };
const value = { a: [1, "two"], quote: '"\\\n', long: "x".repeat(100) };
const text = seal(value, { ...options, header });
const plain = seal(value, options);
const own = '{"paused":true,"run":"run_1"}';

/** What the reader by places gives. */
function byPlaces(sealed: string, ring = keyring): ReturnType<typeof verifiedAsWritten> {
  return verifiedAsWritten(sealed, ring, purpose, sealed.length);
}

/** A right MAC for a header and a body of somebody's own, as who has the key can make. */
async function madeByHand(head: string, body: string): Promise<string> {
  const { createHmac, hkdfSync } = await import("node:crypto");
  const derived = Buffer.from(hkdfSync("sha256", key, "holdpoint-seal", "v1 mac checkpoint", 32));
  const lengths = `${Buffer.byteLength(head)}\n${head}\n${Buffer.byteLength(body)}`;
  const input = `holdpoint-seal\n1\ncheckpoint\nk1\n${lengths}\n${body}`;
  return createHmac("sha256", derived).update(input).digest("base64url");
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an envelope that stands as it was written", () => {
  it("SEAL-27 has its members where the writer puts them", () => {
    const { mac, body } = JSON.parse(text) as { mac: string; body: string };
    for (const [sealed, head] of [
      [text, own],
      [plain, "{}"],
    ] as const) {
      const places = placesOf(sealed, purpose, sealed.length)!;
      expect(places).toMatchObject({ kid: "k1", own: head });
      expect(sealed.slice(places.body.start, places.body.end)).toBe(JSON.stringify(body));
      expect(stringAt(sealed, places.body)).toBe(body);
    }
    expect(placesOf(text, purpose, text.length)!.mac).toBe(mac);
    expect(placesOf(text, purpose, text.length - 1)).toBe(undefined);
    expect(placesOf(text, "decision", text.length)).toBe(undefined);
  });

  it("SEAL-27 has no other character before its key, between its members or around its MAC", () => {
    for (const sealed of [text, plain]) {
      const { body, own: head } = placesOf(sealed, purpose, sealed.length)!;
      const kid = sealed.indexOf('k1"') + 2;
      const fixed = [
        ...range(0, sealed.indexOf('k1"')),
        ...range(kid, head === "{}" ? kid + 9 : kid + 2),
        ...range(body.start - 8, body.start),
        ...range(body.end, body.end + 8),
        ...range(sealed.length - 2, sealed.length),
      ];
      for (const at of fixed) {
        const other = `${sealed.slice(0, at)}~${sealed.slice(at + 1)}`;
        expect([at, byPlaces(other)]).toEqual([at, undefined]);
        expect(refusal(() => verify(other, options)).code).toBe("checkpoint-tampered");
      }
    }
    expect(placesOf(text.replace('"k1",', '"k1",,'), purpose, 1000)?.own).toBe(`{,${own.slice(1)}`);
    expect(placesOf(plain.replace('"k1",', '"k1",,'), purpose, 1000)).toBe(undefined);
    expect(placesOf(plain.replace('"k1",', '"k1";,'), purpose, 1000)).toBe(undefined);
    expect(placesOf('{"v":1,"purpose":"checkpoint","kid":"', purpose, 1000)).toBe(undefined);
    expect(placesOf("", purpose, 1000)).toBe(undefined);
  });

  function range(from: number, to: number): number[] {
    return Array.from({ length: to - from }, (_, i) => from + i);
  }

  it("SEAL-27 is read by its places, under the current key", () => {
    for (const sealed of [text, plain, sign("", options).text, seal("x".repeat(50_000), options)]) {
      expect(byPlaces(sealed)).toEqual(verify(sealed, options));
      expect(byPlaces(sealed)).not.toBe(undefined);
    }
    expect(byPlaces(plain)!.header).toBe(NO_HEADER);
    expect(byPlaces(text)!.header).toEqual(header);
  });

  it("SEAL-27 SEAL-28 is left to the other reader where anything in it is otherwise", () => {
    const turned = Object.fromEntries(Object.entries(JSON.parse(text) as object).toReversed());
    const others = [
      JSON.stringify(turned),
      JSON.stringify(JSON.parse(text), null, 1),
      text.replace('"run_1"', '"run_2"'),
      text.replace("two", "six"),
      text.replace(/"mac":"./, '"mac":"_'),
      text.replace('"body":"', '"body":["'),
      text.replace('"body":"', '"body": "'),
    ];
    for (const other of others) expect(byPlaces(other)).toBe(undefined);
    expect(verify(others[0]!, options)).toEqual(verify(text, options));
    expect(verify(others.at(-1)!, options)).toEqual(verify(text, options));
    const next = createKeyring({
      current: { id: "k2", key: new Uint8Array(32).fill(2) },
      retired: [{ id: "k1", key }],
      mac: nodeMac,
    });
    expect(byPlaces(text, next)).toBe(undefined);
    expect(verify(text, { ...options, keyring: next })).toEqual(verify(text, options));
    for (const other of [undefined, null, 1, [text]])
      expect(verifiedAsWritten(other as unknown as string, keyring, purpose, 1000)).toBe(undefined);
  });

  it("SEAL-28 is refused with halves of a pair in its body, whose bytes are those of another text", async () => {
    const mac = await madeByHand("{}", "\ud800");
    const forged = `{"v":1,"purpose":"checkpoint","kid":"k1","body":"\\ud800","mac":"${mac}"}`;
    expect(verify(forged.replace("\\ud800", "\ufffd"), options).body).toBe("\ufffd");
    expect(byPlaces(forged)).toBe(undefined);
    for (const other of [forged, forged.replace('"v":1', '"v": 1')])
      expect(refusal(() => verify(other, options)).code).toBe("checkpoint-tampered");
  });

  it("SEAL-27 has a header that is written as the writer writes it", () => {
    expect(headerAsWritten("{}")).toBe(NO_HEADER);
    expect(headerAsWritten(own)).toEqual(header);
    const good = '{"A":-1,"a":null,"b":"é\\"\\\\/","c":false}';
    expect(headerAsWritten(good)).toEqual({ A: -1, a: null, b: 'é"\\/', c: false });
    for (const other of [
      '{"b":1,"a":1}',
      '{"a":1,"a":1}',
      '{"a":1,"a":2}',
      '{ "a":1}',
      '{"a":1 }',
      '{"a":1.0}',
      '{"a":"\\u0062"}',
      '{"a":1.5}',
      '{"a":[]}',
      '{"a":"\u007f"}',
      '{"9":1}',
      '{"v":1}',
      '{"__proto__":1}',
      '{"a":}',
      "{",
    ])
      expect([other, headerAsWritten(other)]).toEqual([other, undefined]);
  });
});

describe("a long text in its quotes", () => {
  const prose = "the parcel was shipped on Monday morning and came back ".repeat(400);

  it("SEAL-27 is searched for its escapes where they are far apart, and only there", () => {
    const texts = ["x", prose, `"${prose}"`, `"\\\\${prose}"`, `"a\\"b"${prose}\\\\"${prose}"`];
    for (const sparse of texts) expect(quoteSparse(sparse)).toBe(JSON.stringify(sparse));
    expect(quoteSparse('"'.repeat(16))).toBe(JSON.stringify('"'.repeat(16)));
    for (const dense of ['"'.repeat(17), "\\".repeat(40) + '"', `${prose}${'"a\\"'.repeat(30)}`])
      expect([dense.length, quoteSparse(dense)]).toEqual([dense.length, undefined]);
  });
});

describe("the reader of any order and spacing", () => {
  it("SEAL-33 SEAL-27 asks the MAC once for an envelope as it was written", () => {
    let asked = 0;
    const counted = createKeyring({
      current: { id: "k1", key },
      mac: {
        prepare: (of) => {
          const keyed = nodeMac.prepare(of);
          return (...parts) => (asked++, keyed(...parts));
        },
      },
    });
    for (const sealed of [text, plain]) {
      asked = 0;
      expect(verify(sealed, { keyring: counted, purpose })).toEqual(verify(sealed, options));
      expect(asked).toBe(1);
    }
  });

  it("SEAL-27 R047 reads each kind of member, however it is spaced, and a number however it is spelled", () => {
    const kinds = { no: false, yes: true, none: null, n: 100, id: -1_029_384_756, text: "a\\" };
    const sealed = seal(1, { ...options, header: kinds });
    const spaced = JSON.stringify(JSON.parse(sealed), null, "\t ").replaceAll("\n", "\r\n");
    expect(verify(spaced, options)).toEqual(verify(sealed, options));
    const spelled = (n: string): string => sealed.replace('"n":100', `"n":${n}`);
    for (const spelling of ["100.0", "1e2", "1.0e+2", "1000e-1"])
      expect(verify(spelled(spelling), options).header).toEqual(kinds);
    for (const spelling of ["1E2", "0100", "+100", "0x64", "100n", "1_00", "one"])
      expect(refusal(() => verify(spelled(spelling), options)).code).toBe("checkpoint-tampered");
  });

  it("SEAL-27 takes a number of 32 characters, and no longer one", () => {
    const numbered = seal(1, { ...options, header: { n: 7 } });
    const spelled = (zeros: number): string =>
      numbered.replace('"n":7', `"n":7.${"0".repeat(zeros)}`);
    expect(verify(spelled(30), options).header).toEqual({ n: 7 });
    expect(refusal(() => verify(spelled(31), options)).code).toBe("checkpoint-tampered");
  });

  it("SEAL-26 hands nothing but strings and scalars to the native parser", async () => {
    vi.resetModules();
    const parse = vi.spyOn(JSON, "parse");
    const { readMembers } = await import("../src/sealing/members.ts");
    const { mac } = JSON.parse(plain) as { mac: string };
    parse.mockClear();
    for (const body of ["[[],[]]", '{"a":1}', " [1]", '"a",[1]'])
      expect(readMembers(`{"v":1,"body":${body},"mac":"${mac}"}`, 1000)).toBe(undefined);
    const given = parse.mock.calls.map(([token]) => token.trim()[0]);
    expect(given.filter((first) => first === "[" || first === "{")).toEqual([]);
    expect(readMembers(`{"v":1,"body":"[1]","mac":"${mac}"}`, 1000)?.["body"]).toBe("[1]");
  });

  it("SEAL-26 takes an envelope of as many characters as a body of the limit may need, and no more", () => {
    const long = sign("x".repeat(70_000), options).text;
    const limit = (long.length - 65_536) / 2;
    expect(verify(long, { ...options, bodyBytesMax: limit }).body).toHaveLength(70_000);
    expect(refusal(() => verify(long, { ...options, bodyBytesMax: limit - 0.5 })).code).toBe(
      "checkpoint-tampered",
    );
    const spaced = `${long} `;
    expect(verify(spaced, { ...options, bodyBytesMax: limit + 0.5 }).body).toHaveLength(70_000);
    expect(refusal(() => verify(spaced, { ...options, bodyBytesMax: limit })).code).toBe(
      "checkpoint-tampered",
    );
  });

  it("SEAL-28 refuses a key's id that the ring holds under another key", () => {
    const other = keyringOf(new Uint8Array(32).fill(9));
    expect(refusal(() => verify(text, { keyring: other, purpose })).code).toBe(
      "checkpoint-tampered",
    );
  });
});
