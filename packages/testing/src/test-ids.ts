import type { Ids } from "@holdpoint/approvals";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Ids and chance by seed: the same seed gives the same ones, in the form of the real ones (TEST-01). */
export function testIds(seed: number = 1): Ids {
  const next = generator(seed);
  const id = () => Array.from({ length: 22 }, () => alphabet[next() & 63]!).join("");
  return { id, uuid: () => uuid(next), random: () => next() / 2 ** 32 };
}

// Mulberry32: 32 bits of state, even over its period; enough for tests, useless for secrets.
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function uuid(next: () => number): string {
  const digits = Array.from({ length: 32 }, (_, at) => {
    const digit = next() & 15;
    if (at === 12) return 4; // the version
    return at === 16 ? (digit & 3) | 8 : digit; // the variant
  });
  const text = digits.map((digit) => digit.toString(16)).join("");
  const parts = [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20)];
  return [...parts, text.slice(20)].join("-");
}
