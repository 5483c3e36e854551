/**
 * What the tests import in place of vitest while mutants run: it collects them, and checks with the
 * runtime's own deep equality. Only tests that pass here on the unchanged source count.
 */
import { isDeepStrictEqual } from "node:util";

export interface Collected {
  readonly title: string;
  readonly run: () => unknown;
}

interface Registry {
  readonly tests: Collected[];
  readonly after: (() => unknown)[];
}

/** One list a process, whichever copy of this module is loaded. */
export function registry(): Registry {
  const holder = globalThis as { holdpointTests?: Registry };
  holder.holdpointTests ??= { tests: [], after: [] };
  return holder.holdpointTests;
}

type Test = (...args: unknown[]) => unknown;
interface It {
  (title: string, run: Test): void;
  each(rows: readonly unknown[]): (title: string, run: Test) => void;
}

export const it: It = Object.assign(
  (title: string, run: Test) => void registry().tests.push({ title, run: () => run() }),
  {
    each: (rows: readonly unknown[]) => (title: string, run: Test) => {
      for (const row of rows) {
        const args = Array.isArray(row) ? (row as unknown[]) : [row];
        registry().tests.push({ title, run: () => run(...args) });
      }
    },
  },
);
export const test: It = it;

export function describe(_title: string, body: () => void): void {
  body();
}

export function afterEach(run: () => unknown): void {
  registry().after.push(run);
}

export const vi = {
  resetModules: (): never => skip(),
  stubGlobal: (): never => skip(),
  unstubAllGlobals: (): void => {},
  restoreAllMocks: (): void => {},
};

function skip(): never {
  throw new Error("needs fresh modules");
}

interface Pattern {
  readonly holdpointPattern: (value: unknown) => boolean;
}

function pattern(holds: (value: unknown) => boolean): Pattern {
  return { holdpointPattern: holds };
}

function isPattern(value: unknown): value is Pattern {
  return typeof value === "object" && value !== null && "holdpointPattern" in value;
}

function equal(actual: unknown, expected: unknown): boolean {
  if (isPattern(expected)) return expected.holdpointPattern(actual);
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return expected.length === actual.length && expected.every((item, i) => equal(actual[i], item));
  }
  if (isPlain(expected) && isPlain(actual)) {
    const keys = (value: object): string[] => Object.keys(value).toSorted();
    const same = isDeepStrictEqual(keys(actual), keys(expected));
    return (
      same && Object.entries(expected).every(([key, value]) => equal((actual as never)[key], value))
    );
  }
  if (isClass(expected) && isClass(actual)) {
    return isDeepStrictEqual({ ...expected }, { ...actual });
  }
  return isDeepStrictEqual(actual, expected);
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as null)
  );
}

function isClass(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    /^\[object Object\]$/.test(Object.prototype.toString.call(value))
  );
}

function includes(actual: unknown, expected: unknown): boolean {
  return isPlain(expected)
    ? Object.entries(expected).every(([key, value]) => includes((actual as never)[key], value))
    : equal(actual, expected);
}

type Holds = (actual: unknown, ...expected: never[]) => boolean;
const MATCHERS: { readonly [name: string]: Holds } = {
  toBe: (actual, expected: unknown) => Object.is(actual, expected),
  toEqual: (actual, expected: unknown) => equal(actual, expected),
  toMatchObject: (actual, expected: unknown) => includes(actual, expected),
  toMatch: (actual, expected: RegExp) => expected.test(String(actual)),
  toContain: (actual, expected: string) => (actual as string).includes(expected),
  toHaveLength: (actual, expected: number) => (actual as unknown[]).length === expected,
  toBeLessThan: (actual, expected: number) => (actual as number) < expected,
  toBeLessThanOrEqual: (actual, expected: number) => (actual as number) <= expected,
  toBeGreaterThan: (actual, expected: number) => (actual as number) > expected,
  toBeUndefined: (actual) => actual === undefined,
  toBeInstanceOf: (actual, expected: new () => object) => actual instanceof expected,
  toThrow: (actual, expected?: string | RegExp | (new () => object)) =>
    throws(actual as () => unknown, expected),
};

function throws(run: () => unknown, expected?: string | RegExp | (new () => object)): boolean {
  try {
    run();
    return false;
  } catch (error) {
    if (typeof expected === "string") return (error as Error).message.includes(expected);
    if (expected instanceof RegExp) return expected.test((error as Error).message);
    return expected === undefined || error instanceof expected;
  }
}

type Expectation = { readonly [name: string]: (...expected: never[]) => void };

export const expect: ((actual: unknown) => Expectation & { not: Expectation }) & {
  stringMatching(expected: RegExp): Pattern;
  stringContaining(expected: string): Pattern;
} = Object.assign(
  (actual: unknown) =>
    Object.assign(expectation(actual, true), { not: expectation(actual, false) }) as Expectation & {
      not: Expectation;
    },
  {
    stringMatching: (expected: RegExp) => pattern((value) => expected.test(String(value))),
    stringContaining: (expected: string) => pattern((value) => String(value).includes(expected)),
  },
);

function expectation(actual: unknown, wanted: boolean): Expectation {
  return Object.fromEntries(
    Object.entries(MATCHERS).map(([name, holds]) => [
      name,
      (...expected: never[]) => {
        if (holds(actual, ...expected) !== wanted) throw new Error(`not ${name}`);
      },
    ]),
  );
}
