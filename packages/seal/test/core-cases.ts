/**
 * The core of the suite without a test runner and without Node: what has to hold in every runtime.
 * Each case throws where it doesn't.
 */
import {
  canonicalize,
  createKeyring,
  decode,
  digest,
  encode,
  isSealError,
  keyringOf,
  open,
  processKeyring,
  seal,
  sign,
  verify,
  type SealErrorCode,
} from "../src/index.ts";

export interface CoreVectors {
  readonly values: readonly {
    name: string;
    js: string;
    text: string;
    canonical: string;
    digest: string;
  }[];
  readonly seals: readonly {
    name: string;
    keyHex: string;
    keyId: string;
    purpose: string;
    header: Record<string, string | number | boolean | null>;
    body: string;
    mac: string;
    text: string;
  }[];
  readonly refused: readonly { text: string; why: string }[];
}

export interface CoreCase {
  readonly title: string;
  readonly run: () => void;
}

function same(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`expected ${String(expected)}, got ${String(actual)}`);
}

function refuses(code: SealErrorCode, run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (isSealError(error, code)) return;
    throw error;
  }
  throw new Error(`not refused with ${code}`);
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}

const keyring = keyringOf(Uint8Array.from({ length: 32 }, (_, i) => i));
const options = { keyring, purpose: "checkpoint" };

/** Whether the runtime has what the value's expression names. */
function isKnown(js: string): boolean {
  return !js.includes("Temporal") || "Temporal" in globalThis;
}

/** `evaluate` turns a vector's JavaScript expression into its value, by whatever the runtime allows. */
export function coreCases(vectors: CoreVectors, evaluate: (js: string) => unknown): CoreCase[] {
  const values = vectors.values
    .filter(({ js }) => isKnown(js))
    .map((row) => ({
      title: `value: ${row.name}`,
      run() {
        const value = evaluate(row.js);
        same(encode(value), row.text);
        same(canonicalize(value), row.canonical);
        same(digest(value), row.digest);
        same(encode(decode(row.text)), row.text);
      },
    }));
  const seals = vectors.seals.map((row) => ({
    title: `seal: ${row.name}`,
    run() {
      const ring = createKeyring({ current: { id: row.keyId, key: bytesOf(row.keyHex) } });
      const { purpose, header, body } = row;
      same(sign(body, { keyring: ring, purpose, header }).text, row.text);
      same(verify(row.text, { keyring: ring, purpose }).body, body);
    },
  }));
  const refused = vectors.refused.map(({ text, why }) => ({
    title: `refused: ${why}`,
    run: () => refuses("seal-malformed", () => decode(text)),
  }));
  return [...values, ...seals, ...refused, ...RUNTIME_CASES];
}

const RUNTIME_CASES: readonly CoreCase[] = [
  {
    title: "every bit of an envelope",
    run() {
      const text = seal({ a: [1, "x"] }, options);
      for (let at = 0; at < text.length; at++) {
        for (let bit = 0; bit < 7; bit++) {
          const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
          const other = text.slice(0, at) + flipped + text.slice(at + 1);
          const version = text.startsWith('"v":', at - 4);
          refuses(
            version && /[02-9]/.test(flipped) && flipped !== "2"
              ? "seal-version-unsupported"
              : "checkpoint-tampered",
            () => open(other, options),
          );
        }
      }
    },
  },
  {
    title: "what can't be sealed",
    run() {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      const bad: unknown[] = [
        () => 1,
        Symbol("s"),
        new Error("x"),
        /a/,
        Promise.resolve(),
        new WeakMap(),
        cycle,
        Object.assign([1], { x: 1 }),
        {
          get a() {
            return 1;
          },
        },
        new (class Refund {})(),
        new Date(NaN),
        new URL("https://example.com"),
      ];
      for (const value of bad) refuses("state-not-sealable", () => encode({ value }));
    },
  },
  {
    title: "a proxy is refused, or read once",
    run() {
      let reads = 0;
      const proxy = new Proxy(
        { a: 1 },
        {
          getOwnPropertyDescriptor(target, key) {
            reads++;
            return Reflect.getOwnPropertyDescriptor(target, key);
          },
        },
      );
      try {
        same(encode(proxy), '{"a":1}');
        same(reads, 1);
      } catch (error) {
        if (!isSealError(error, "state-not-sealable")) throw error;
      }
      refuses("state-not-sealable", () =>
        encode(
          new Proxy(
            {},
            {
              ownKeys() {
                throw new Error("trap");
              },
            },
          ),
        ),
      );
    },
  },
  {
    title: "depth, breadth and size",
    run() {
      let deep: unknown = 0;
      for (let i = 0; i < 100_000; i++) deep = [deep];
      refuses("state-not-sealable", () => encode(deep));
      refuses("seal-malformed", () => decode("[".repeat(1_000_000)));
      refuses("state-not-sealable", () => encode("x".repeat(17 * 1024 * 1024)));
      const wide = Array.from({ length: 100_000 }, (_, i) => ({ i, text: `row ${i}` }));
      same(encode(decode(encode(wide))), encode(wide));
    },
  },
  {
    title: "a patched toJSON",
    run() {
      Object.defineProperty(Object.prototype, "toJSON", {
        value: () => "approved",
        configurable: true,
      });
      try {
        refuses("platform-altered", () => encode({ denied: true }));
      } finally {
        Reflect.deleteProperty(Object.prototype, "toJSON");
      }
      same(encode({ denied: true }), '{"denied":true}');
    },
  },
  {
    title: "a random ring of the process",
    run() {
      const ring = processKeyring();
      same(ring.ephemeral, true);
      same(
        open(seal(1n, { keyring: ring, purpose: "cursor" }), { keyring: ring, purpose: "cursor" })
          .value,
        1n,
      );
    },
  },
];
