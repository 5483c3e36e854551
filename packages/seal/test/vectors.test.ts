import { describe, expect, it } from "vitest";

import {
  canonicalize,
  createKeyring,
  decode,
  digest,
  encode,
  isSealError,
  keyringOf,
  nobleMac,
  sign,
  verify,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { defaultMac } from "../src/sealing/mac.ts";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { cpuMs } from "./cpu-time.ts";
import { describeValue } from "./describe-value.ts";
import { refusal } from "./refusal.ts";
import { evaluate, vectorLines, vectors } from "./vectors.ts";

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

function outcome(run: () => unknown): "accept" | "refuse" {
  try {
    run();
    return "accept";
  } catch {
    return "refuse";
  }
}

describe("own vectors", () => {
  interface JsValue {
    readonly id: string;
    readonly cat: string;
    readonly expr: string;
    readonly expect: string;
  }
  it.each(vectors<JsValue>("own/js_values.jsonl"))("SEAL-50 vector $id $cat", (row) => {
    const scope = globalThis as { __ran?: unknown };
    delete scope.__ran;
    const value = evaluate(row.expr);
    // Refusing may be the costly part: it is done once.
    let code = "round-trip";
    let written = "";
    try {
      written = encode(value);
    } catch (error) {
      code = isSealError(error) ? error.code : "untyped";
    }
    const refused = code !== "round-trip";
    expect(
      row.expect.split("-or-").map((one) => one.replace(/^roundtrip.*/, "round-trip")),
    ).toContain(code);
    const text = written;
    expect(code).toBe(row.expect === "state-not-sealable" ? "state-not-sealable" : code);
    const back = refused ? value : decode(text);
    expect(refused || describeValue(back) === describeValue(value)).toBe(true);
    expect(refused ? "" : encode(back)).toBe(text);
    expect(scope.__ran).toBeUndefined();
  });

  interface Pair {
    readonly id: string;
    readonly a: string;
    readonly b: string;
  }
  it.each(vectors<Pair>("own/must_differ.jsonl"))(
    "SEAL-50 vector $id has two texts and two canonical forms",
    (row) => {
      expect(encode(evaluate(row.a))).not.toBe(encode(evaluate(row.b)));
      expect(canonicalize(evaluate(row.a))).not.toBe(canonicalize(evaluate(row.b)));
    },
  );

  it.each(vectors<Pair>("own/must_equal.jsonl"))(
    "SEAL-50 vector $id has one canonical form",
    (row) => {
      expect(canonicalize(evaluate(row.a))).toBe(canonicalize(evaluate(row.b)));
      expect(digest(evaluate(row.a))).toBe(digest(evaluate(row.b)));
    },
  );

  interface StrictText {
    readonly id: string;
    readonly text?: string;
    readonly b64?: string;
    readonly gen?: { open: string; inner: string; close: string; times: number };
    readonly text_strict?: string;
    readonly value_level?: string;
    readonly expect?: string;
  }
  function strictText(row: StrictText): string | undefined {
    if (row.text !== undefined) return row.text;
    if (row.gen !== undefined) {
      const { open, inner, close, times } = row.gen;
      return open.repeat(times) + inner + close.repeat(times);
    }
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        Buffer.from(row.b64!, "base64"),
      );
    } catch {
      return undefined;
    }
  }
  it.each(vectors<StrictText>("own/strict_text.jsonl"))(
    "SEAL-50 SEAL-24 vector $id as text",
    (row) => {
      const text = strictText(row);
      const read = text === undefined ? "refuse" : outcome(() => decode(text));
      expect(cpuMs(() => decode(text ?? ""))).toBeLessThan(100);
      const wanted = row.text_strict ?? row.expect ?? "";
      expect(wanted.startsWith("accept-where") ? "refuse" : wanted).toBe(read);
      expect(read === "accept" ? encode(decode(text!)) : text).toBe(text);
    },
  );
  const valued = vectors<StrictText>("own/strict_text.jsonl").filter(
    (row) =>
      row.value_level !== undefined &&
      row.value_level !== "refuse" &&
      !/\\u0000|\\u[dD]|"\$|__proto__/.test(row.value_level),
  );
  it.each(valued)("SEAL-50 vector $id as a value", (row) => {
    const value: unknown = JSON.parse(strictText(row)!);
    // Minus zero is the one number that the format keeps apart.
    expect(Object.is(value, -0) ? "0" : canonicalize(value)).toBe(row.value_level);
  });

  interface Tagged {
    readonly id: string;
    readonly value: unknown;
  }
  it.each(vectors<Tagged>("own/tag_confusion.jsonl"))(
    "SEAL-50 SEAL-08 R045 CASE-060 vector $id stays data",
    ({ value }) => {
      const text = encode(value);
      expect(decode(text)).toEqual(value);
      expect(describeValue(decode(text))).toBe(describeValue(value));
      expect(decode(encode([value, { a: value }]))).toEqual([value, { a: value }]);
    },
  );

  interface Prototype {
    readonly id: string;
    readonly kind: string;
    readonly text: string;
  }
  it.each(vectors<Prototype>("own/prototype_keys.jsonl"))(
    "SEAL-50 SEAL-08 SEAL-26 vector $id pollutes nothing",
    (row) => {
      const value: unknown =
        row.kind === "json-value" ? JSON.parse(row.text) : { [row.text]: row.text };
      const before = Reflect.ownKeys(Object.prototype);
      const back = decode(encode(value)) as object;
      expect(describeValue(back)).toBe(describeValue(value));
      expect(Object.getPrototypeOf(back)).toBe(Object.getPrototypeOf(value));
      expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  interface MacText {
    readonly id: string;
    readonly key?: string;
    readonly form: string;
    readonly msg: string;
    readonly text: unknown;
    readonly twin?: string;
    readonly expect: string;
  }
  const macs = vectors<MacText>("own/mac_text.jsonl");
  it.each(macs.filter((row) => row.form !== "key-hash-twin" && row.form !== "key-empty"))(
    "SEAL-50 SEAL-28 R055 vector $id $form",
    (row) => {
      const keyring = keyringOf(bytesOf((row.key ?? "").padEnd(32, "0")));
      const signed = sign(row.msg, { keyring, purpose: "checkpoint" });
      const genuine = JSON.parse(signed.text) as Record<string, unknown>;
      const text = JSON.stringify({ ...genuine, mac: row.text });
      const error = refusal(() => verify(text, { keyring, purpose: "checkpoint" }));
      expect(error.code).toBe("checkpoint-tampered");
      expect(error.message).toBe(
        refusal(() => verify("", { keyring, purpose: "checkpoint" })).message,
      );
    },
  );
  it.each(macs.filter((row) => row.twin !== undefined))(
    "SEAL-50 SEAL-30 vector $id refuses twin keys in one ring",
    (row) => {
      const keys = {
        current: { id: "a", key: bytesOf(row.key!) },
        retired: [{ id: "b", key: bytesOf(row.twin!) }],
      };
      expect(refusal(() => createKeyring(keys)).code).toBe("key-invalid");
    },
  );
  it("SEAL-50 SEAL-30 refuses an empty key", () => {
    expect(refusal(() => keyringOf(new Uint8Array())).code).toBe("key-invalid");
  });
});

describe("public corpora", () => {
  interface JsonTest {
    readonly name: string;
    readonly expect: string;
    readonly b64?: string;
    readonly repeat?: [string, number];
    readonly suffix?: string;
    readonly utf8: boolean;
    readonly canonical: boolean;
  }
  it.each(vectors<JsonTest>("third_party/jsontestsuite.jsonl"))(
    "SEAL-50 SEAL-26 JSONTestSuite $name",
    (row) => {
      const bytes =
        row.b64 === undefined
          ? Buffer.from(row.repeat![0].repeat(row.repeat![1]) + (row.suffix ?? ""))
          : Buffer.from(row.b64, "base64");
      let text: string | undefined;
      try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        text = undefined;
      }
      const read = text === undefined ? "refuse" : outcome(() => decode(text));
      const mayAccept = row.expect !== "refuse" && row.utf8;
      expect(read === "accept" && !mayAccept).toBe(false);
      expect(read === "accept" ? encode(decode(text!)) : text).toBe(text);
      // A canonical text without `$` names, NUL or surrogate escapes is its value's sealed text.
      const plain =
        !row.name.includes("500_nested") &&
        row.canonical &&
        text !== undefined &&
        !/\\u0000|\\ud|"\$|__proto__/.test(text);
      expect(plain ? read : "accept").toBe("accept");
    },
  );

  interface Jcs {
    readonly name: string;
    readonly input_b64: string;
    readonly output_b64: string;
  }
  it.each(vectors<Jcs>("third_party/jcs_cases.jsonl"))("SEAL-50 SEAL-07 RFC 8785 $name", (row) => {
    const value: unknown = JSON.parse(Buffer.from(row.input_b64, "base64").toString());
    expect(canonicalize(value)).toBe(Buffer.from(row.output_b64, "base64").toString());
  });

  it("SEAL-50 SEAL-02 prints each of the published numbers as ECMAScript does", () => {
    const view = new DataView(new ArrayBuffer(8));
    for (const line of vectorLines("third_party/jcs_es6_numbers.csv")) {
      const [hex, text] = line.split(",") as [string, string];
      view.setBigUint64(0, BigInt(`0x${hex}`));
      const value = view.getFloat64(0);
      const wanted = Object.is(value, -0) ? '{"$num":"-0"}' : text;
      expect(encode(value)).toBe(wanted);
      expect(decode(wanted)).toBe(value);
    }
  });

  it("SEAL-50 keeps every naughty string as value, key, map key and set member", () => {
    for (const { s } of vectors<{ s: string }>("third_party/blns.jsonl")) {
      const value = [s, { [s]: s }, new Map([[s, s]]), new Set([s])];
      expect(describeValue(decode(encode(value)))).toBe(describeValue(value));
    }
  });

  interface Wycheproof {
    readonly tcId: number;
    readonly key: string;
    readonly msg: string;
    readonly tag: string;
    readonly tagSize: number;
    readonly result: string;
  }
  it("SEAL-50 SEAL-29 computes the published HMACs, by the package, by the platform and by Node", () => {
    for (const row of vectors<Wycheproof>("third_party/wycheproof_hmac_sha256.jsonl")) {
      const full = hmac(sha256, bytesOf(row.key), bytesOf(row.msg));
      const valid =
        Buffer.from(full)
          .toString("hex")
          .slice(0, row.tagSize / 4) === row.tag;
      expect([row.tcId, valid]).toEqual([row.tcId, row.result === "valid"]);
      // A seal has all 256 bits: the port's text can't be a shorter tag.
      const message = Buffer.from(row.msg, "hex").toString("latin1");
      const ours = nobleMac.prepare(bytesOf(row.key))("", message);
      expect(ours).toHaveLength(43);
      expect(defaultMac.prepare(bytesOf(row.key))("", message)).toBe(ours);
      expect(row.key === "" ? ours : nodeMac.prepare(bytesOf(row.key))("", message)).toBe(ours);
    }
  });

  interface Hkdf {
    readonly tcId: number;
    readonly ikm: string;
    readonly salt: string;
    readonly info: string;
    readonly size: number;
    readonly okm: string;
    readonly result: string;
  }
  it("SEAL-50 SEAL-30 derives the published keys", () => {
    for (const row of vectors<Hkdf>("third_party/wycheproof_hkdf_sha256.jsonl")) {
      const derive = (): Uint8Array =>
        hkdf(sha256, bytesOf(row.ikm), bytesOf(row.salt), bytesOf(row.info), row.size);
      const valid = row.result === "valid";
      expect([row.tcId, valid ? Buffer.from(derive()).toString("hex") : outcome(derive)]).toEqual([
        row.tcId,
        valid ? row.okm : "refuse",
      ]);
    }
  });
});
