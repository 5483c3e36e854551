import { createHmac } from "node:crypto";
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import {
  createKeyring,
  Keyring,
  keyringOf,
  nobleMac,
  open,
  processKeyring,
  seal,
  sign,
  verify,
} from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { equalMacs } from "../src/sealing/mac.ts";
import { refusal, refusalCode } from "./refusal.ts";

function keyOf(seed: number, length = 32): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 255);
}
const k1 = { id: "k1", key: keyOf(1) };
const k2 = { id: "k2", key: keyOf(2) };
const k3 = { id: "k3", key: keyOf(3) };
const purpose = "checkpoint";

describe("keys", () => {
  it("SEAL-30 takes 16 bytes or more, and refuses less at construction", () => {
    expect(keyringOf(keyOf(1, 16)).currentId).toBe("k1");
    expect(keyringOf(keyOf(1, 200)).currentId).toBe("k1");
    for (const key of [
      keyOf(1, 15),
      new Uint8Array(),
      "x".repeat(32) as unknown as Uint8Array,
      new Uint16Array(32) as unknown as Uint8Array,
    ]) {
      expect(refusalCode(() => keyringOf(key))).toBe("key-invalid");
    }
    expect(refusal(() => keyringOf(keyOf(1, 15))).message).toBe("key k1 is shorter than 16 bytes");
  });

  it("SEAL-30 copies a key", () => {
    const key = keyOf(1);
    const ring = keyringOf(key);
    key.fill(0);
    const text = seal(1, { keyring: ring, purpose });
    expect(open(text, { keyring: keyringOf(keyOf(1)), purpose }).value).toBe(1);
  });

  it("SEAL-30 R059 shows ids alone in inspect, JSON and errors", () => {
    const ring = createKeyring({ current: k1, retired: [k2], compromised: ["k9"] });
    sign("x", { keyring: ring, purpose });
    const shown = [
      inspect(ring, { depth: 9, showHidden: true }),
      JSON.stringify(ring),
      JSON.stringify(Object.entries(ring)),
    ].join("\n");
    expect(JSON.parse(JSON.stringify(ring))).toEqual({ currentId: "k1", ids: ["k1", "k2"] });
    for (const key of [k1.key, k2.key]) {
      expect(shown).not.toContain(Buffer.from(key).toString("hex").slice(0, 8));
      expect(shown).not.toContain([...key.subarray(0, 4)].join(", "));
      expect(shown).not.toContain(Buffer.from(key).toString("base64").slice(0, 8));
    }
    expect(Object.keys(ring)).toEqual(["ephemeral"]);
  });

  it("SEAL-30 refuses HMAC's twin keys in one ring", () => {
    const padded = new Uint8Array(40);
    padded.set(k1.key);
    const long = keyOf(5, 100);
    const hashed = Uint8Array.from(Buffer.from(createHashHex(long), "hex"));
    expect(createHmac("sha256", k1.key).update("x").digest("hex")).toBe(
      createHmac("sha256", padded).update("x").digest("hex"),
    );
    expect(
      refusal(() => createKeyring({ current: k1, retired: [{ id: "p", key: padded }] })).message,
    ).toBe("keys k1 and p are one key to HMAC");
    expect(
      refusalCode(() =>
        createKeyring({ current: { id: "a", key: long }, retired: [{ id: "b", key: hashed }] }),
      ),
    ).toBe("key-invalid");
    expect(
      refusalCode(() => createKeyring({ current: k1, retired: [{ id: "same", key: k1.key }] })),
    ).toBe("key-invalid");
  });

  it("SEAL-30 derives keys such that a twin opens nothing of the other's", () => {
    const padded = new Uint8Array(40);
    padded.set(k1.key);
    const text = sign("x", { keyring: keyringOf(k1.key), purpose }).text;
    expect(refusalCode(() => verify(text, { keyring: keyringOf(padded), purpose }))).toBe(
      "checkpoint-tampered",
    );
  });

  it("SEAL-32 takes a MAC for another only where each of its 43 characters is the same", () => {
    const mac = "AZaz09-_".repeat(6).slice(0, 43);
    expect(equalMacs(mac, mac)).toBe(true);
    for (let at = 0; at < 43; at++) {
      const other = `${mac.slice(0, at)}${mac[at] === "B" ? "C" : "B"}${mac.slice(at + 1)}`;
      expect([at, equalMacs(other, mac), equalMacs(mac, other)]).toEqual([at, false, false]);
    }
    for (const other of ["", mac.slice(0, 42), `${mac}A`, `${mac}=`]) {
      expect([equalMacs(other, mac), equalMacs(mac, other)]).toEqual([false, false]);
      expect(equalMacs(other, other)).toBe(false);
    }
  });

  it("SEAL-31 takes ids of its alphabet alone, each once", () => {
    for (const id of ["", "a b", "k/1", "é", "a".repeat(65), "k1\n", 1 as unknown as string]) {
      expect(refusalCode(() => createKeyring({ current: { id, key: keyOf(1) } }))).toBe(
        "key-invalid",
      );
      expect(refusalCode(() => createKeyring({ current: k1, compromised: [id] }))).toBe(
        "key-invalid",
      );
    }
    expect(
      createKeyring({ current: { id: `A.z_9-${"a".repeat(58)}`, key: keyOf(1) } }).currentId,
    ).toHaveLength(64);
    expect(
      refusal(() => createKeyring({ current: k1, retired: [{ id: "k1", key: keyOf(9) }] })).message,
    ).toBe("key id k1 is given twice");
    expect(refusalCode(() => createKeyring({ current: k1, compromised: ["k1"] }))).toBe(
      "key-invalid",
    );
  });

  it("SEAL-30 makes one random ring a process, and says so once", () => {
    const said: string[] = [];
    const ring = processKeyring((line) => said.push(line));
    expect(processKeyring((line) => said.push(line))).toBe(ring);
    expect(ring).toBeInstanceOf(Keyring);
    expect(ring.ephemeral).toBe(true);
    expect(keyringOf(keyOf(1)).ephemeral).toBe(false);
    expect(ring.currentId).toMatch(/^process-[A-Za-z0-9_-]{8}$/);
    expect(said).toEqual([expect.stringContaining("no key was given")]);
    expect(said[0]).toContain(ring.currentId);
    const text = seal(1, { keyring: ring, purpose });
    expect(open(text, { keyring: ring, purpose }).value).toBe(1);
  });

  it("SEAL-30 R056 names the unknown key of another process's ring", async () => {
    const { vi } = await import("vitest");
    vi.resetModules();
    const again = await import("../src/index.ts");
    const other = again.processKeyring();
    const text = again.seal(1, { keyring: other, purpose });
    const error = refusal(() => open(text, { keyring: processKeyring(), purpose }));
    expect([error.code, error.keyId]).toEqual(["checkpoint-tampered", other.currentId]);
    expect(other.currentId).not.toBe(processKeyring().currentId);
  });
});

describe("rotation", () => {
  it("SEAL-31 CASE-112 seals with the current key and opens what retired ones sealed", () => {
    const ring = createKeyring({ current: k1 });
    const old = seal("old", { keyring: ring, purpose });
    ring.rotate(k2);
    expect([ring.currentId, ring.ids]).toEqual(["k2", ["k2", "k1"]]);
    const young = seal("young", { keyring: ring, purpose });
    expect(open(old, { keyring: ring, purpose })).toMatchObject({ value: "old", keyId: "k1" });
    expect(open(young, { keyring: ring, purpose })).toMatchObject({ value: "young", keyId: "k2" });
    expect(refusalCode(() => ring.rotate({ id: "k1", key: keyOf(7) }))).toBe("key-invalid");
    expect(ring.currentId).toBe("k2");
  });

  it("SEAL-31 CASE-112 names a removed key, and a key id of another alphabet not", () => {
    const ring = createKeyring({ current: k2, retired: [k1] });
    const old = seal("old", { keyring: createKeyring({ current: k1 }), purpose });
    expect(open(old, { keyring: ring, purpose }).value).toBe("old");
    ring.replace({ current: k2 });
    const error = refusal(() => open(old, { keyring: ring, purpose }));
    expect([error.code, error.keyId]).toEqual(["checkpoint-tampered", "k1"]);
    expect(error.message).toContain("it names key k1, which is not there");
    const odd = refusal(() =>
      open(old.replace('"kid":"k1"', '"kid":"<b>"'), { keyring: ring, purpose }),
    );
    expect([odd.code, odd.keyId]).toEqual(["checkpoint-tampered", undefined]);
  });

  it("SEAL-31 R057 refuses a compromised key at once, by name, even while it is held", () => {
    const ring = createKeyring({ current: k1 });
    const text = seal(1, { keyring: ring, purpose });
    ring.replace({ current: k2, retired: [k1], compromised: ["k1"] });
    const error = refusal(() => open(text, { keyring: ring, purpose }));
    expect([error.code, error.keyId]).toEqual(["key-compromised", "k1"]);
    expect(ring.compromisedIds).toEqual(["k1"]);
    expect(
      refusalCode(() => open(text.replace(/"body":"1"/, '"body":"2"'), { keyring: ring, purpose })),
    ).toBe("key-compromised");
    ring.rotate(k3);
    expect(refusalCode(() => open(text, { keyring: ring, purpose }))).toBe("key-compromised");
  });

  it("SEAL-31 R057 P12 opens every genuine seal over three rotations under load", () => {
    const ring = createKeyring({ current: { id: "r0", key: keyOf(100) }, mac: nodeMac });
    const sealed: string[] = [];
    for (let round = 0; round < 4; round++) {
      if (round > 0) ring.rotate({ id: `r${round}`, key: keyOf(100 + round) });
      for (let i = 0; i < 250; i++) {
        sealed.push(seal({ round, i }, { keyring: ring, purpose }));
        const pick = sealed[(i * 7919) % sealed.length]!;
        expect(open(pick, { keyring: ring, purpose }).keyId).toMatch(/^r[0-3]$/);
      }
    }
    expect(
      sealed
        .map((text) => open(text, { keyring: ring, purpose }).keyId)
        .filter((id) => id === "r0"),
    ).toHaveLength(250);
    // One reload of configuration without r0: everything of r0 is refused, the rest opens.
    ring.replace({
      current: { id: "r3", key: keyOf(103) },
      retired: [
        { id: "r1", key: keyOf(101) },
        { id: "r2", key: keyOf(102) },
      ],
      mac: nodeMac,
    });
    const refused = sealed.filter((text) => {
      try {
        open(text, { keyring: ring, purpose });
        return false;
      } catch {
        return true;
      }
    });
    expect(refused).toHaveLength(250);
    expect(refused.every((text) => text.includes('"kid":"r0"'))).toBe(true);
  });

  it("SEAL-31 changes nothing when a reload is refused", () => {
    const ring = createKeyring({ current: k1, retired: [k2], compromised: ["k9"] });
    expect(
      refusalCode(() =>
        ring.replace({ current: k3, retired: [{ id: "short", key: keyOf(1, 3) }] }),
      ),
    ).toBe("key-invalid");
    expect([ring.currentId, ring.ids, ring.compromisedIds]).toEqual(["k1", ["k1", "k2"], ["k9"]]);
  });

  it("SEAL-31 keeps cipher and MAC over a rotation", () => {
    let prepared = 0;
    const counting = { prepare: (key: Uint8Array) => (prepared++, nodeMac.prepare(key)) };
    const identity = {
      encrypt: (plain: Uint8Array) => plain,
      decrypt: (sealed: Uint8Array) => sealed,
    };
    const ring = createKeyring({ current: k1, mac: counting, cipher: { prepare: () => identity } });
    ring.rotate(k2);
    const before = prepared;
    sign("x", { keyring: ring, purpose });
    expect([ring.secret, prepared - before]).toEqual([true, 1]);
  });
});

describe("the MAC port", () => {
  it("SEAL-33 gives the same seal with the default and with Node's", () => {
    for (const body of ["", "x", "é✓😀", "y".repeat(63), "y".repeat(64), "z".repeat(100_000)]) {
      const slow = sign(body, {
        keyring: createKeyring({ current: k1 }),
        purpose,
        header: { a: 1 },
      });
      const fast = sign(body, {
        keyring: createKeyring({ current: k1, mac: nodeMac }),
        purpose,
        header: { a: 1 },
      });
      expect(fast).toEqual(slow);
    }
  });

  it("SEAL-33 refuses a MAC that is another algorithm, or another spelling", () => {
    const others = [
      () => "A".repeat(43),
      (head: string, body: string) =>
        createHmac("sha512", "k")
          .update(head + body)
          .digest("base64url")
          .slice(0, 43),
      (head: string, body: string) => `${nobleMac.prepare(keyOf(1))(head, body)}=`,
      () => "",
    ];
    for (const mac of others) {
      expect(refusalCode(() => createKeyring({ current: k1, mac: { prepare: () => mac } }))).toBe(
        "key-invalid",
      );
    }
    // One that forgets the head, and one that forgets the body.
    const forgetful = [
      (key: Uint8Array) => (_head: string, body: string) => nobleMac.prepare(key)("", body),
      (key: Uint8Array) => (head: string) => nobleMac.prepare(key)(head, ""),
    ];
    for (const prepare of forgetful) {
      expect(refusalCode(() => createKeyring({ current: k1, mac: { prepare } }))).toBe(
        "key-invalid",
      );
    }
  });

  it("SEAL-30 derives a purpose's key once, and keeps the cache bounded", () => {
    let prepared = 0;
    const mac = { prepare: (key: Uint8Array) => (prepared++, nobleMac.prepare(key)) };
    const ring = createKeyring({ current: k1, mac });
    const probes = prepared;
    for (let i = 0; i < 10; i++) sign("x", { keyring: ring, purpose });
    expect(prepared - probes).toBe(1);
    for (let i = 0; i < 200; i++) sign("x", { keyring: ring, purpose: `p${i}` });
    expect(
      verify(sign("x", { keyring: ring, purpose: "p3" }).text, { keyring: ring, purpose: "p3" })
        .body,
    ).toBe("x");
    sign("x", { keyring: ring, purpose: "p199" });
    const after = prepared;
    sign("x", { keyring: ring, purpose: "p199" });
    expect(prepared).toBe(after);
    // Sixty-four are kept; with one more all are forgotten.
    const other = createKeyring({ current: k1, mac });
    const before = prepared;
    const counts = [63, 0, 64, 0].map((last) => {
      for (let i = 0; i <= last; i++) sign("x", { keyring: other, purpose: `q${i}` });
      return prepared - before;
    });
    expect(counts).toEqual([64, 64, 65, 66]);
  });
});

function createHashHex(bytes: Uint8Array): string {
  // HMAC's own shortening of a key past the block.
  return Buffer.from(sha256Of(bytes)).toString("hex");
}

function sha256Of(bytes: Uint8Array): Uint8Array {
  const { hash } = process.getBuiltinModule("node:crypto");
  return hash("sha256", bytes, "buffer");
}
