import { describe, expect, it } from "vitest";

import { findEscapes } from "../src/architecture/escapes.ts";
import { findDrawers } from "../src/architecture/file-names.ts";
import { findLengths } from "../src/architecture/lengths.ts";
import {
  findEnvironmentAndPrinting,
  findTimeAndChance,
} from "../src/architecture/outside-world.ts";
import { runOnSource } from "./fixture-workspace.ts";

describe("time and chance", () => {
  it.each([
    "Date.now();",
    "const now = Date.now;",
    "new Date();",
    "Date();",
    'Date["now"]();',
    "const { now } = Date;",
    "globalThis.Date.now();",
    "Math.random();",
    "const { random } = Math;",
    "performance.now();",
    "setTimeout(() => {}, 1);",
    "globalThis.setTimeout(() => {}, 1);",
    "const timers = { setTimeout };",
    "setInterval(() => {}, 1);",
    "setImmediate(() => {});",
    "AbortSignal.timeout(5);",
    "process.hrtime.bigint();",
    "crypto.randomUUID();",
    "globalThis.crypto.getRandomValues(new Uint8Array(1));",
    'import { randomUUID } from "node:crypto";',
    'import { randomBytes as bytes } from "node:crypto";',
    'import * as crypto from "node:crypto"; crypto.randomUUID();',
    'import crypto from "node:crypto"; crypto.randomInt(3);',
    'import { setTimeout } from "node:timers/promises";',
    'import { performance } from "node:perf_hooks";',
    'import { randomBytes } from "@noble/hashes/utils.js";',
  ])("ARCH-07 are found in a package: %s", (text) => {
    expect(runOnSource(findTimeAndChance, text)).not.toEqual([]);
    expect(runOnSource(findTimeAndChance, text, "packages/testing/src/a.ts")).not.toEqual([]);
  });

  it.each([
    "new Date(0);",
    "export const at = (clock: { now(): number }) => new Date(clock.now());",
    "Date.parse('2026-01-01');",
    "Math.max(1, 2);",
    "export interface Timers { setTimeout(run: () => void): void }",
    "export type Timer = ReturnType<typeof setTimeout>;",
    "export const wait = (setTimeout: (run: () => void) => void) => setTimeout(() => {});",
    "export const timers = { setTimeout: 1, Date: 2 };",
    "export const ids = { randomUUID: () => 'a' };",
    'import { createHmac } from "node:crypto";',
    'import type { Timeout } from "node:timers";',
    "// Date.now() would be wrong here",
  ])("ARCH-07 are not found where nothing makes them: %s", (text) => {
    expect(runOnSource(findTimeAndChance, text)).toEqual([]);
  });

  it("ARCH-07 are made in the clocks' files, in apps and in tests", () => {
    const text = "Date.now(); Math.random(); setTimeout(() => {}, 1); crypto.randomUUID();";
    const clocks = ["approvals", "sqlite", "postgres"].map(
      (name) => `packages/${name}/src/clock.ts`,
    );
    for (const path of [...clocks, "apps/desk/src/a.ts"]) {
      expect(runOnSource(findTimeAndChance, text, path)).toEqual([]);
    }
    expect(runOnSource(findTimeAndChance, text, "packages/flow/src/clock.ts")).toHaveLength(4);
  });

  it.each(["packages/seal/src/sealing/keyring.ts", "packages/seal/src/node.ts"])(
    "ARCH-07 leave %s the chance that nobody may repeat, and no time",
    (path) => {
      const key = "crypto.getRandomValues(new Uint8Array(32));";
      expect(runOnSource(findTimeAndChance, key, path)).toEqual([]);
      expect(runOnSource(findTimeAndChance, "Date.now();", path)).toHaveLength(1);
      expect(runOnSource(findTimeAndChance, key, "packages/flow/src/node.ts")).toHaveLength(1);
    },
  );
});

describe("environment and printing", () => {
  it.each([
    "process.env.DATABASE_URL;",
    "const { env } = process;",
    'process["env"];',
    "globalThis.process.env;",
    'import { env } from "node:process";',
    'import process from "node:process"; process.env;',
    "console.log(1);",
    "const { warn } = console;",
    "globalThis.console.error(1);",
    "process.stdout.write('a');",
  ])("ARCH-08 are found in a package: %s", (text) => {
    expect(runOnSource(findEnvironmentAndPrinting, text)).not.toEqual([]);
  });

  it.each([
    "export const log = (console: { log(): void }) => console.log();",
    "export const env = { process: 1 };",
    "process.version;",
  ])("ARCH-08 are not found in what is passed in or named alike: %s", (text) => {
    expect(runOnSource(findEnvironmentAndPrinting, text)).toEqual([]);
  });

  it("ARCH-08 are an app's to use", () => {
    const text = "console.log(process.env.PATH);";
    expect(runOnSource(findEnvironmentAndPrinting, text, "apps/desk/src/a.ts")).toEqual([]);
  });
});

describe("lengths", () => {
  const lines = (count: number) => "// a line\n".repeat(count);
  const body = (count: number) => "\n".repeat(count - 1);

  it("ARCH-09 allow a file of 500 lines and refuse one of 501", () => {
    expect(runOnSource(findLengths, lines(500))).toEqual([]);
    expect(runOnSource(findLengths, lines(501))).toHaveLength(1);
    expect(runOnSource(findLengths, lines(501), "scripts/a.ts")).toHaveLength(1);
    expect(runOnSource(findLengths, lines(501), "packages/flow/test/a.test.ts")).toHaveLength(1);
  });

  it.each([
    ["a function", (inner: string) => `export function a() {${inner}}`],
    ["an arrow", (inner: string) => `export const a = () => {${inner}};`],
    ["a method", (inner: string) => `export class A { run() {${inner}} }`],
    ["a test", (inner: string) => `it("runs", () => {${inner}});`],
  ])("ARCH-09 allow %s of 70 lines and refuse one of 71", (_, make) => {
    expect(runOnSource(findLengths, make(body(70)))).toEqual([]);
    expect(runOnSource(findLengths, make(body(71)))).toEqual([
      "packages/flow/src/a.ts:1 a function of 71 lines, more than 70",
    ]);
  });

  it.each(["describe('a', () => {$});", "describe.each([1])('a', () => {$});"])(
    "ARCH-09 take a suite for a heading: %s",
    (text) => {
      const path = "packages/flow/test/a.test.ts";
      expect(runOnSource(findLengths, text.replace("$", body(200)), path)).toEqual([]);
    },
  );
});

describe("file names", () => {
  it.each([
    "packages/flow/src/utils.ts",
    "packages/flow/src/util.ts",
    "packages/flow/src/types.ts",
    "packages/flow/src/run/helpers.ts",
    "packages/flow/src/common.ts",
    "packages/flow/test/helpers.test.ts",
    "packages/flow/src/utils/path.ts",
    "packages/flow/src/RunState.ts",
    "scripts/helpers.ts",
  ])("ARCH-10 refuse %s", (path) => {
    expect(runOnSource(findDrawers, "", path)).toHaveLength(1);
  });

  it.each(["packages/flow/src/run-state.ts", "packages/flow/src/type-names.ts", "tsup.base.ts"])(
    "ARCH-10 accept %s",
    (path) => {
      expect(runOnSource(findDrawers, "", path)).toEqual([]);
    },
  );
});

describe("escapes", () => {
  it.each([
    "export const a = 1 as unknown as string;",
    "export const a = (1 as unknown) as string;",
    "// @ts-ignore\nexport const a = 1;",
    "/* @ts-nocheck */",
    "// @ts-expect-error is not watched here\nexport const a = 1;",
    `// ${"TO"}DO later`,
    `/** ${"FIX"}ME */`,
  ])("ARCH-11 are refused in source: %s", (text) => {
    expect(runOnSource(findEscapes, text)).toHaveLength(1);
  });

  it.each([
    ["a test's expected error", "// @ts-expect-error", "packages/flow/test/a.test.ts"],
    ["a plain cast", "export const a = JSON.parse('1') as unknown;", "packages/flow/src/a.ts"],
    [
      "a cast of a cast",
      "export const a = JSON.parse('1') as number as 1;",
      "packages/flow/src/a.ts",
    ],
    ["the words in a text", `export const a = "${"TO"}DO";`, "packages/flow/src/a.ts"],
  ])("ARCH-11 do not count %s", (_, text, path) => {
    expect(runOnSource(findEscapes, text, path)).toEqual([]);
  });
});
