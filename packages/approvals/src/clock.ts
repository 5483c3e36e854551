/**
 * Time and chance, passed in: the one file that touches either.
 *
 * Tests hand in their own; everything else takes `systemClock` and `systemIds` by default at its public edge.
 */

/** Takes a timer back; calling it again, or after the timer fired, does nothing. */
export type CancelTimer = () => void;

/** The time of one machine. Expiry, deadlines and leases never compare with it where a store is: stores have their own. */
export interface Clock {
  /** Wall time in whole milliseconds since 1970-01-01T00:00Z; may step in either direction. */
  now(): number;
  /** Milliseconds since some fixed moment; never runs backwards. For durations. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs` (any length, also past 2^31 ms) unless taken back first. */
  timer(delayMs: number, fire: () => void): CancelTimer;
}

/** Chance. */
export interface Ids {
  /** A new id of 128 random bits: 22 characters of unpadded base64url. */
  id(): string;
  /** A random UUID, version 4. */
  uuid(): string;
  /** A number in [0, 1). */
  random(): number;
}

/** The longest delay that runtimes' timers take; a longer one fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delayMs, fire) {
    let left = delayMs;
    let handle: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const step = Math.min(left, longestTimerMs);
      left -= step;
      handle = setTimeout(() => (left > 0 ? arm() : fire()), step);
    };
    arm();
    return () => clearTimeout(handle);
  },
};

/**
 * Gives the event loop one turn, so that what waits outside of promises (connections, signals, timers) is served: code that
 * only awaits promises never lets it.
 */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** A call for random bytes costs more than the bytes: they are drawn by the page, and given out once each. */
const pool = new Uint8Array(1024);
let drawn = pool.length;

function randomBytes(count: number): Uint8Array {
  if (drawn + count > pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  const bytes = pool.slice(drawn, drawn + count);
  pool.fill(0, drawn, drawn + count);
  drawn += count;
  return bytes;
}

/** The platform's cryptographic randomness (`random()` is drawn from it too, so nothing here is guessable). */
export const systemIds: Ids = {
  id() {
    const bytes = randomBytes(16);
    let text = "";
    for (let at = 0; at < 16; at += 3) {
      const word = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      text +=
        alphabet[(word >> 18) & 63]! +
        alphabet[(word >> 12) & 63]! +
        alphabet[(word >> 6) & 63]! +
        alphabet[word & 63]!;
    }
    return text.slice(0, 22);
  },
  uuid: () => crypto.randomUUID(),
  random() {
    const [a, b, c, d] = randomBytes(4);
    return ((a! << 24) | (b! << 16) | (c! << 8) | d!) / 2 ** 32 + 0.5;
  },
};
