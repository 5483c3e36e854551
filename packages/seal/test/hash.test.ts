/** The two hashes: the platform's, and that of the package which stands in where there is none. */
import * as crypto from "node:crypto";

import { afterEach, describe, expect, it, vi } from "vitest";

import { createKeyring, digest, digestText, keyringOf, nobleMac, seal } from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { hostHash, isWellFormed } from "../src/platform.ts";
import { nobleSha256, sha256 } from "../src/sealing/hash.ts";
import { hmac } from "../src/sealing/hmac.ts";
import { defaultMac } from "../src/sealing/mac.ts";
import { refusal } from "./refusal.ts";
import { vectors } from "./vectors.ts";

const purpose = "decision";
const key = Uint8Array.from({ length: 32 }, (_, i) => i);

/** Around each border of a block, of the buffer that is kept, and of what is counted at once. */
const LENGTHS = [0, 1, 55, 56, 63, 64, 65, 119, 128, 4095, 4096, 4097, 16_384, 70_001];
const TEXTS = [
  ...LENGTHS.map((length) => "a".repeat(length)),
  ...LENGTHS.map((length) => "é✓😀".repeat(length / 4)),
  ...vectors<{ s: string }>("third_party/blns.jsonl").map(({ s }) => s),
];

/** The package with another `process`, loaded anew: what it finds at import is what it keeps. */
async function over(host: unknown): Promise<typeof import("../src/index.ts")> {
  vi.resetModules();
  vi.stubGlobal("process", host);
  const fresh = await import("../src/index.ts");
  await import("../src/sealing/hash.ts");
  vi.unstubAllGlobals();
  return fresh;
}

const real = process;
function hosting(hash: unknown): unknown {
  return {
    getBuiltinModule: (id: string) => (id === "node:crypto" ? { hash } : real.getBuiltinModule(id)),
  };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("SHA-256", () => {
  it("SEAL-35 is the platform's where it has one for a single call", () => {
    expect(hostHash()).toBe(crypto.hash);
    expect(sha256).not.toBe(nobleSha256);
  });

  it("SEAL-35 gives the same bytes by the platform and by the package", () => {
    // What is not well formed is hashed as the encoder writes it.
    for (const text of [...TEXTS, "\ud800", "x\udc00\ud800y", "\0"]) {
      const bytes = new TextEncoder().encode(text);
      const whole = crypto.createHash("sha256").update(bytes).digest();
      for (const by of [sha256, nobleSha256]) {
        expect(by.base64(text)).toBe(whole.toString("base64url"));
        expect(by.base64(bytes)).toBe(whole.toString("base64url"));
        expect(Buffer.from(by.bytes(bytes)).equals(whole)).toBe(true);
      }
    }
  });

  it("SEAL-29 SEAL-33 gives the same MACs by the platform, the package and Node's own", () => {
    for (const length of [1, 16, 63, 64, 65, 200]) {
      const secret = Uint8Array.from({ length }, (_, i) => i * 7);
      const [mine, theirs, nodes] = [defaultMac, nobleMac, nodeMac].map((mac) =>
        mac.prepare(secret),
      );
      for (const text of TEXTS.filter((each) => isWellFormed(each))) {
        const wanted = nodes!("head\n", text);
        expect([mine!("head\n", text), theirs!("head\n", text)]).toEqual([wanted, wanted]);
        expect(mine!(`head\n${text}`, "")).toBe(wanted);
      }
      const message = Uint8Array.from({ length: 300 }, (_, i) => i);
      const wanted = crypto.createHmac("sha256", secret).update(message).digest("hex");
      for (const by of [sha256, nobleSha256]) {
        expect(Buffer.from(hmac(secret, message, by)).toString("hex")).toBe(wanted);
      }
    }
  });

  it("SEAL-33 sets each key up apart, though the message is written into one buffer", () => {
    const [a, b] = [key, key.toReversed()].map((each) => defaultMac.prepare(each));
    const before = [a!("h", "x"), b!("h", "x")];
    expect([b!("h", "x"), a!("h", "x")].toReversed()).toEqual(before);
    expect(before[0]).not.toBe(before[1]);
    // A shorter message after a longer one.
    a!("h", "y".repeat(4000));
    expect(a!("h", "x")).toBe(before[0]);
  });
});

describe("a runtime with a hash of its own", () => {
  it("SEAL-35 is asked for it when something is hashed first, and once", async () => {
    const asked: string[] = [];
    const fresh = await over({
      getBuiltinModule: (id: string) => (asked.push(id), real.getBuiltinModule(id)),
    });
    expect(asked).not.toContain("node:crypto");
    expect([fresh.digest(1), fresh.digest(1)]).toEqual([digest(1), digest(1)]);
    expect(asked.filter((id) => id === "node:crypto")).toHaveLength(1);
  });
});

describe("a runtime without a hash of its own", () => {
  const value = { b: [1.5, "é✓😀"], a: new Set([2, 1]) };
  const hosts: readonly (readonly [string, unknown])[] = [
    ["process", undefined],
    ["getBuiltinModule", {}],
    ["node:crypto", { getBuiltinModule: () => undefined }],
    ["crypto.hash", hosting(undefined)],
  ];
  it.each(hosts)(
    "SEAL-33 SEAL-35 without %s digests, seals and opens the same",
    async (_, host) => {
      const fallback = await over(host);
      const platform = await import("../src/platform.ts");
      expect(platform.hostHash()).toBeUndefined();
      expect(fallback.digest(value)).toBe(digest(value));
      expect(fallback.digestText("abc")).toBe(digestText("abc"));
      const text = seal(value, { keyring: keyringOf(key), purpose });
      const options = { keyring: fallback.keyringOf(key), purpose };
      expect(fallback.seal(value, options)).toBe(text);
      expect(fallback.open(text, options).value).toEqual(value);
      // A key longer than a block is hashed first.
      const long = new Uint8Array(65).fill(3);
      expect(fallback.seal(1, { keyring: fallback.keyringOf(long), purpose })).toBe(
        seal(1, { keyring: keyringOf(long), purpose }),
      );
    },
  );
});

describe("a platform's hash replaced", () => {
  type Hash = (algorithm: string, of: unknown, form: string) => unknown;
  const right = crypto.hash as Hash;
  const altered: readonly (readonly [string, Hash])[] = [
    ["is always the same", () => "A".repeat(43)],
    ["is another algorithm", (_, of, form) => right("sha512", of, form)],
    [
      "forgets a text's last character",
      (a, of, form) => right(a, `${of as string}`.slice(1), form),
    ],
    ["gives nothing", () => undefined],
    [
      "throws",
      () => {
        throw new Error("patched");
      },
    ],
  ];
  it.each(altered)("SEAL-26 R149 before import refuses where it %s", async (_, hash) => {
    const uses = [
      (from: typeof import("../src/index.ts")) => from.digestText("abc"),
      (from: typeof import("../src/index.ts")) => from.digest(1),
      (from: typeof import("../src/index.ts")) => from.encode(1),
      (from: typeof import("../src/index.ts")) => from.keyringOf(key),
      (from: typeof import("../src/index.ts")) =>
        // Its keys are derived by the hash, though it signs by Node's own.
        from.createKeyring({ current: { id: "k1", key }, mac: nodeMac }),
    ];
    for (const use of uses) {
      const fresh = await over(hosting(hash));
      const thrown = [1, 2].map(() => refusal(() => use(fresh)).code);
      expect(thrown).toEqual(["platform-altered", "platform-altered"]);
    }
  });

  it("SEAL-26 R149 before import refuses where texts are right and bytes are not", async () => {
    const fresh = await over(
      hosting((algorithm: string, of: unknown, form: string) =>
        right(algorithm, typeof of === "string" ? of : new Uint8Array(3), form),
      ),
    );
    expect(fresh.digestText("abc")).toBe(digestText("abc"));
    expect(refusal(() => fresh.keyringOf(key)).code).toBe("platform-altered");
  });

  it("SEAL-26 R149 after import changes nothing", () => {
    const module = process.getBuiltinModule("node:crypto") as unknown as Record<string, unknown>;
    const options = { keyring: keyringOf(key), purpose };
    const before = [digest({ a: 1 }), digestText("x"), seal(1, options)];
    const host = process as { getBuiltinModule: unknown };
    const polluted = Object.prototype as unknown as Record<string, unknown>;
    const { hash } = module;
    const found = Object.getOwnPropertyDescriptor(host, "getBuiltinModule")!;
    let after: unknown[];
    try {
      module["hash"] = () => "A".repeat(43);
      host.getBuiltinModule = () => undefined;
      // Names that Node looks up in tables of its own.
      for (const name of ["sha256", "buffer", "base64url", "outputLength"]) polluted[name] = 3;
      const ring = { keyring: keyringOf(key), purpose };
      after = [digest({ a: 1 }), digestText("x"), seal(1, ring)];
    } finally {
      module["hash"] = hash;
      Object.defineProperty(host, "getBuiltinModule", found);
      for (const name of ["sha256", "buffer", "base64url", "outputLength"]) {
        Reflect.deleteProperty(polluted, name);
      }
    }
    expect(after).toEqual(before);
  });

  it("SEAL-33 lets what a caller's own MAC throws through", () => {
    const mac = {
      prepare: () => {
        throw new RangeError("no such slot");
      },
    };
    expect(() => createKeyring({ current: { id: "k1", key }, mac })).toThrow("no such slot");
  });
});
