import { describe, expect, it } from "vitest";

import {
  createKeyring,
  createSealer,
  encode,
  keyringOf,
  open,
  PURPOSES,
  seal,
  sign,
  verify,
  type Header,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { refusal, refusalCode } from "./refusal.ts";

const key = new Uint8Array(32).fill(1);
const keyring = createKeyring({ current: { id: "k1", key }, mac: nodeMac });
const options = { keyring, purpose: PURPOSES.checkpoint };
const header: Header = { run: "run_1", revision: 7, paused: true, parent: null };
const value = { a: [1, "two", null], when: new Date(0), quote: '"\\\n' };
const text = seal(value, { ...options, header });
const members = JSON.parse(text) as { [name: string]: unknown };
const tampered = refusal(() => verify("", options));

function openWith(changes: { [name: string]: unknown }): unknown {
  return open(JSON.stringify({ ...members, ...changes }), options);
}

describe("the envelope", () => {
  it("SEAL-27 has v first, mac last, and the sealed text as a string between", () => {
    expect(Object.keys(members)).toEqual(
      ["v", "purpose", "kid", "run", "revision", "paused", "parent", "body", "mac"].toSorted(
        byPlace,
      ),
    );
    expect(text.startsWith('{"v":1,"purpose":"checkpoint","kid":"k1",')).toBe(true);
    expect(text).toMatch(/,"mac":"[A-Za-z0-9_-]{43}"\}$/);
    expect(members["body"]).toBe(
      '{"a":[1,"two",null],"when":{"$date":"1970-01-01T00:00:00.000Z"},"quote":"\\"\\\\\\n"}',
    );
  });

  function byPlace(a: string, b: string): number {
    return text.indexOf(`"${a}":`) - text.indexOf(`"${b}":`);
  }

  it("SEAL-27 quotes a long body as the native writer does, wherever its escapes are", () => {
    const prose = "the parcel was shipped on Monday morning and came back ".repeat(400);
    const odd = '"\\\n\u0001\u007f\u2028é😀"';
    const pages = Array.from({ length: 40 }, (_, page) => `${prose}${page}${odd}`);
    const dense = Array.from({ length: 4 }, (_, shift) => ".".repeat(shift) + '"😀'.repeat(20_000));
    const bodies = [prose, odd + prose, prose + odd, pages, { pages, odd: [odd.repeat(9000)] }];
    for (const body of [...bodies, ...dense]) {
      const whole = seal(body, { ...options, header });
      expect(whole).toBe(sign(encode(body), { ...options, header }).text);
      expect(open(whole, options).value).toEqual(body);
    }
  });

  it("SEAL-29 refuses a purpose outside the alphabet each time", () => {
    const bad = { keyring, purpose: "Bad" };
    expect(refusalCode(() => seal(1, bad))).toBe("option-invalid");
    expect(refusalCode(() => seal(1, bad))).toBe("option-invalid");
    seal(1, { keyring, purpose: PURPOSES.decision });
    expect(refusalCode(() => seal(1, bad))).toBe("option-invalid");
  });

  it("SEAL-27 opens to the value, the header, the key's id and the MAC", () => {
    expect(open(text, options)).toEqual({ value, header, keyId: "k1", mac: members["mac"] });
    const signed = sign("any text", { ...options, header });
    expect(verify(signed.text, options)).toEqual({
      body: "any text",
      header,
      keyId: "k1",
      mac: signed.mac,
    });
    expect(JSON.parse(signed.text)).toMatchObject({ mac: signed.mac });
  });

  it("SEAL-27 R047 opens after a store has re-ordered and re-spaced it", () => {
    const turned = Object.fromEntries(Object.entries(members).toReversed());
    expect(open(JSON.stringify(turned, null, 2), options).value).toEqual(value);
    expect(open(`\r\n\t ${JSON.stringify(members, null, " ")} \n`, options).value).toEqual(value);
    expect(
      open(
        text
          .replaceAll(":", " : ")
          .replace(/"when\\" : /, '"when\\":')
          .replaceAll(' : {\\"$date', ':{\\"$date')
          .replaceAll('\\" : ', '\\":')
          .replaceAll("00 : 00 : 00", "00:00:00"),
        options,
      ).value,
    ).toEqual(value);
    const long = sign("x".repeat(5000), options).text;
    expect(
      verify(
        JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(long) as object).toReversed())),
        options,
      ).body,
    ).toHaveLength(5000);
    expect(verify(long.replace("}", " }"), options).body).toHaveLength(5000);
  });

  it("SEAL-27 R047 refuses a member given twice, wherever it stands", () => {
    for (const name of Object.keys(members)) {
      const again = `"${name}":${JSON.stringify(members[name])}`;
      expect(refusalCode(() => open(`{${again},${text.slice(1)}`, options))).toBe(
        "checkpoint-tampered",
      );
      expect(refusalCode(() => open(`${text.slice(0, -1)},${again}}`, options))).toBe(
        "checkpoint-tampered",
      );
    }
  });

  it("SEAL-28 refuses any change of a member with one code and one text", () => {
    const changes: { [name: string]: unknown }[] = [
      { purpose: "cursor" },
      { purpose: 1 },
      { body: `${String(members["body"])} ` },
      { body: "" },
      { body: null },
      { body: {} },
      { run: "run_2" },
      { run: undefined },
      { revision: 8 },
      { revision: "7" },
      { paused: false },
      { parent: false },
      { extra: 1 },
      { mac: null },
      { mac: 1 },
      { mac: "" },
      { mac: [members["mac"]] },
      { mac: { toString: 1 } },
      { mac: `${String(members["mac"])}A` },
      { mac: String(members["mac"]).slice(0, 42) },
      { mac: String(members["mac"]).toLowerCase() },
      { mac: undefined },
      { mac: true },
      { v: "1" },
      { v: null },
      { v: undefined },
      { v: 1.5 },
      { kid: 1 },
      { kid: undefined },
      { purpose: undefined },
      { body: undefined },
      { alg: "none" },
      { kid: "k 1" },
      { kid: "" },
      { kid: "k".repeat(65) },
      { run: "run\u0001" },
      { "bad name": 1 },
      { revision: 1.5 },
      { revision: 2 ** 53 },
      { run: ["run_1"] },
    ];
    for (const change of changes) {
      const error = refusal(() => openWith(change));
      expect([change, error.code, error.message, error.keyId]).toEqual([
        change,
        "checkpoint-tampered",
        tampered.message,
        undefined,
      ]);
    }
  });

  it("SEAL-28 refuses what is not an envelope at all, with the same text", () => {
    const texts = [
      "",
      "{}",
      "[]",
      "null",
      "{",
      '{"v":1',
      '{"v":1}',
      "x",
      '{"v":1,}',
      '{"v" 1}',
      "{v:1}",
      '{"v":}',
      '{"v":1 "a":2}',
      `${text}x`,
      `${text}{}`,
      ` ${text.slice(1)}`,
      text.slice(0, -1),
      text.slice(1),
      '{"a":"\t"}',
      '{"a":"b',
      '{"a":-}',
      `{"a":${"1".repeat(40)}}`,
      '{"a":tru}',
      '{"a":"\\x"}',
      '{"a\\q":1}',
      `{"a":[]}`,
    ];
    for (const other of texts) {
      const error = refusal(() => verify(other, options));
      expect([other.slice(0, 40), error.code, error.message]).toEqual([
        other.slice(0, 40),
        "checkpoint-tampered",
        tampered.message,
      ]);
    }
    for (const other of [undefined, null, 1, {}, [text], Buffer.from(text)]) {
      expect(refusal(() => verify(other as unknown as string, options)).message).toBe(
        tampered.message,
      );
    }
  });

  it("SEAL-28 P3 refuses a flip of every bit of the envelope", () => {
    const bytes = Buffer.from(text);
    for (let i = 0; i < bytes.length; i++) {
      for (let bit = 0; bit < 8; bit++) {
        bytes[i]! ^= 1 << bit;
        const code = refusalCode(() => open(bytes.toString("latin1"), options));
        expect(code === "checkpoint-tampered" || code === "seal-version-unsupported").toBe(true);
        bytes[i]! ^= 1 << bit;
      }
    }
  });

  it.each([10_000, 100_000])(
    "SEAL-28 P3 refuses flips all over an envelope of %d bytes",
    (size) => {
      const items = Array.from({ length: Math.ceil(size / 50) }, (_, n) => ({
        n,
        text: `item "${n}" of many more`,
      }));
      const long = seal(items, options);
      expect(long.length).toBeGreaterThan(size);
      const bytes = Buffer.from(long);
      // A prime step, so that places in the repeating text differ; the long form flips every bit.
      for (let i = 0; i < bytes.length; i += size / 100 - 3) {
        for (let bit = 0; bit < 8; bit++) {
          bytes[i]! ^= 1 << bit;
          expect(refusalCode(() => open(bytes.toString("latin1"), options))).toBe(
            "checkpoint-tampered",
          );
          bytes[i]! ^= 1 << bit;
        }
      }
    },
  );

  it("SEAL-28 P3 refuses every truncation", () => {
    for (let end = 0; end < text.length; end++) {
      expect(refusalCode(() => open(text.slice(0, end), options))).toBe("checkpoint-tampered");
    }
  });

  it("SEAL-28 P3 refuses every splice of two genuine envelopes", () => {
    const other = JSON.parse(
      seal(
        { b: 2 },
        { ...options, header: { run: "run_2", revision: 7, paused: true, parent: null } },
      ),
    ) as typeof members;
    const names = Object.keys(members);
    const opened: string[] = [];
    for (let mask = 0; mask < 2 ** names.length; mask++) {
      const picked = names.map((name, i) => [name, (mask >> i) & 1 ? other[name] : members[name]]);
      const spliced = JSON.stringify(Object.fromEntries(picked));
      if (isOpened(spliced)) opened.push(spliced);
    }
    const genuine = new Set(
      opened.map((spliced) => (JSON.parse(spliced) as typeof members)["mac"]),
    );
    expect([...genuine]).toEqual([members["mac"], other["mac"]]);
    expect(new Set(opened)).toEqual(new Set([JSON.stringify(members), JSON.stringify(other)]));
  });

  function isOpened(spliced: string): boolean {
    try {
      open(spliced, options);
      return true;
    } catch {
      return false;
    }
  }

  it("SEAL-28 R054 names an unknown version, whatever the rest says", () => {
    for (const version of [0, 3, 99, -1]) {
      const error = refusal(() => openWith({ v: version }));
      expect([error.code, error.version]).toEqual(["seal-version-unsupported", version]);
    }
    // A version that this release knows is bound by the MAC.
    expect(refusalCode(() => openWith({ v: 2 }))).toBe("checkpoint-tampered");
  });

  it("SEAL-29 opens no seal of one purpose as another", () => {
    const purposes = Object.values(PURPOSES);
    expect(purposes).toEqual([
      "checkpoint",
      "log-entry",
      "approval",
      "decision",
      "run-export",
      "cursor",
      "inbox-nonce",
    ]);
    for (const from of purposes) {
      const sealed = sign("x", { keyring, purpose: from }).text;
      expect(verify(sealed, { keyring, purpose: from }).body).toBe("x");
      for (const to of purposes.filter((other) => other !== from)) {
        const renamed = sealed.replace(`"${from}"`, `"${to}"`);
        for (const text of [sealed, renamed]) {
          expect(refusalCode(() => verify(text, { keyring, purpose: to }))).toBe(
            "checkpoint-tampered",
          );
        }
      }
    }
  });

  it("SEAL-29 lets no header or body be taken for a separator", () => {
    const macs = new Set<string>();
    const parts = ["", "\n", "a", "a\n1", "{}", '{"a":"1"}', "2\n{}\n0\n", "0\n\n"];
    for (const body of parts) {
      for (const name of ["", "a", "ab"]) {
        for (const held of ["", "a", "2"]) {
          macs.add(sign(body, { ...options, header: name === "" ? {} : { [name]: held } }).mac);
        }
      }
    }
    expect(macs.size).toBe(parts.length * 7);
  });

  it("SEAL-29 SEAL-32 computes HMAC-SHA256 over the label, version, purpose, key id, header and body", async () => {
    const { createHmac, hkdfSync } = await import("node:crypto");
    const derived = Buffer.from(hkdfSync("sha256", key, "holdpoint-seal", "v1 mac log-entry", 32));
    const input = 'holdpoint-seal\n1\nlog-entry\nk1\n16\n{"n":2,"é":1}\n';
    expect(refusalCode(() => sign("x", { keyring, purpose: "log-entry", header: { é: 1 } }))).toBe(
      "option-invalid",
    );
    expect(input).toHaveLength(47);
    const expected = createHmac("sha256", derived)
      .update('holdpoint-seal\n1\nlog-entry\nk1\n13\n{"a":1,"b":2}\n5\né✓')
      .digest("base64url");
    expect(sign("é✓", { keyring, purpose: "log-entry", header: { b: 2, a: 1 } }).mac).toBe(
      expected,
    );
  });

  it("SEAL-29 takes only purposes, headers and bodies of the checked alphabets", () => {
    for (const purpose of [
      "",
      "Checkpoint",
      "a b",
      "a\n",
      "1a",
      "a".repeat(65),
      1 as unknown as string,
    ]) {
      expect(refusalCode(() => sign("x", { keyring, purpose }))).toBe("option-invalid");
      expect(refusalCode(() => verify(text, { keyring, purpose }))).toBe("option-invalid");
    }
    const headers: unknown[] = [
      { v: 1 },
      { body: "" },
      { mac: "" },
      { kid: "" },
      { purpose: "" },
      { "": 1 },
      { a: 1.5 },
      { a: -0 },
      { a: 2 ** 53 },
      { a: undefined },
      { a: {} },
      { a: "\n" },
      { a: "\u007f" },
      { a: "\ud800" },
      { a: "x".repeat(1025) },
      { "1a": 1 },
      { a: 1n },
      Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, i])),
    ];
    for (const bad of headers)
      expect(refusalCode(() => sign("x", { ...options, header: bad as Header }))).toBe(
        "option-invalid",
      );
    for (const body of ["\ud800", 1 as unknown as string])
      expect(refusalCode(() => sign(body, options))).toBe("option-invalid");
    const edge: Header = {
      a: "x".repeat(1024),
      b: 'é😀"\\/',
      c: Number.MAX_SAFE_INTEGER,
      d: -1,
      e: 0,
    };
    expect(verify(sign("", { ...options, header: edge }).text, options)).toMatchObject({
      header: edge,
      body: "",
    });
  });

  it("SEAL-26 never parses a body whose seal doesn't hold", () => {
    const bad = sign('{"a":1,"a":', options).text;
    expect(verify(bad, options).body).toBe('{"a":1,"a":');
    expect(refusalCode(() => open(bad, options))).toBe("seal-malformed");
    expect(refusalCode(() => open(bad.replace(/"mac":"."?/, '"mac":"_'), options))).toBe(
      "checkpoint-tampered",
    );
  });

  it("SEAL-26 refuses an envelope by its length before it is read", () => {
    const small = createSealer({ limits: { bytes: 1000 } });
    const fits = sign(`"${"x".repeat(990)}"`, options).text;
    expect(small.open(fits, options).value).toHaveLength(990);
    const long = sign("x".repeat(70_000), options).text;
    expect(refusalCode(() => small.open(long, options))).toBe("checkpoint-tampered");
    expect(refusalCode(() => verify(long, { ...options, bodyBytesMax: 100 }))).toBe(
      "checkpoint-tampered",
    );
    expect(verify(long, options).body).toHaveLength(70_000);
  });
});

describe("what a key's holder never sees in an error", () => {
  it("R056 gives a wrong key's error an advice, and no byte of a key or MAC", () => {
    const wrong = keyringOf(new Uint8Array(32).fill(2));
    const error = refusal(() => open(text, { keyring: wrong, purpose: "checkpoint" }));
    expect(error.code).toBe("checkpoint-tampered");
    expect(error.message).toMatch(/check that the keyring holds the key it was sealed with$/);
    expect(error.message).not.toContain(String(members["mac"]).slice(0, 6));
  });
});
