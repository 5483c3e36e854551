import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { findCycles } from "../src/architecture/cycles.ts";
import { findEscapes } from "../src/architecture/escapes.ts";
import { findDrawers } from "../src/architecture/file-names.ts";
import { findLayerBreaches, findStoreBreaches } from "../src/architecture/layers.ts";
import { findLengths } from "../src/architecture/lengths.ts";
import {
  findDependencyBreaches,
  findDevDependencyBreaches,
} from "../src/architecture/manifests.ts";
import { findUnnamedExports } from "../src/architecture/named-exports.ts";
import {
  findEnvironmentAndPrinting,
  findTimeAndChance,
} from "../src/architecture/outside-world.ts";
import { findEntryBreaches } from "../src/architecture/public-entries.ts";
import { assembleWorkspace, readTree } from "../src/architecture/workspace.ts";
import { runOnSource, runRule } from "./fixture-workspace.ts";

describe("the real tree", () => {
  const tree = assembleWorkspace(readTree(join(import.meta.dirname, "../../..")));

  it("ARCH-01 is read whole: packages, apps and scripts", () => {
    const folders = tree.members.map((member) => member.folder);
    for (const name of ["seal", "approvals", "tools", "flow", "workflows", "sqlite", "testing"]) {
      expect(folders).toContain(`packages/${name}`);
    }
    expect(folders).toContain("apps/proof");
    const packages = tree.members.filter(({ folder }) => folder.startsWith("packages/"));
    expect(packages.filter(({ source }) => source.length === 0)).toEqual([]);
    expect(tree.scripts.map((file) => file.path)).toContain("scripts/spec.ts");
  });

  it.each([
    ["ARCH-01 follows the order of layers", findLayerBreaches],
    ["ARCH-02 gives stores the types of the layers alone", findStoreBreaches],
    ["ARCH-03 reaches members through public entries", findEntryBreaches],
    ["ARCH-04 declares the dependencies that its sources import", findDependencyBreaches],
    ["ARCH-05 declares the dependencies that its tests import", findDevDependencyBreaches],
    ["ARCH-06 has no import cycle", findCycles],
    ["ARCH-07 makes time and chance in one file", findTimeAndChance],
    ["ARCH-08 neither reads the environment nor prints", findEnvironmentAndPrinting],
    ["ARCH-09 keeps files and functions short", findLengths],
    ["ARCH-10 has no drawers", findDrawers],
    ["ARCH-11 has no casts through unknown, silenced errors or notes for later", findEscapes],
    ["ARCH-12 names what it exports", findUnnamedExports],
  ])("%s", (_, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

describe("the order of layers", () => {
  it.each([
    ["seal", "approvals"],
    ["tools", "flow"],
    ["flow", "workflows"],
    ["flow", "sqlite"],
    ["workflows", "testing"],
    ["inbox", "sqlite"],
    ["sqlite", "postgres"],
    ["seal", "someday"],
  ])("ARCH-01 refuses %s that imports %s", (from, to) => {
    const path = `packages/${from}/src/a.ts`;
    expect(runOnSource(findLayerBreaches, `import { a } from "@holdpoint/${to}";`, path)).toEqual([
      expect.stringContaining(`${path}:1 `),
    ]);
  });

  it.each([
    ["approvals", "seal"],
    ["workflows", "approvals"],
    ["testing", "workflows"],
    ["inbox", "workflows"],
    ["cli", "sqlite"],
  ])("ARCH-01 allows %s that imports %s", (from, to) => {
    const path = `packages/${from}/src/a.ts`;
    expect(runOnSource(findLayerBreaches, `import "@holdpoint/${to}";`, path)).toEqual([]);
  });

  it.each([
    ["a type", 'import type { A } from "@holdpoint/workflows";'],
    ["a re-export", 'export { a } from "@holdpoint/workflows";'],
    ["a lazy import", 'const a = () => import("@holdpoint/workflows");'],
    ["an import type", 'type A = import("@holdpoint/workflows").A;'],
    ["a subpath", 'import { a } from "@holdpoint/workflows/contract";'],
  ])("ARCH-01 counts %s as an import", (_, text) => {
    expect(runOnSource(findLayerBreaches, text)).toHaveLength(1);
  });

  it("ARCH-01 holds for tests, where a store may use the layers and the kit", () => {
    const text = 'import { a } from "@holdpoint/testing";';
    expect(runOnSource(findLayerBreaches, text, "packages/sqlite/test/a.test.ts")).toEqual([]);
    expect(runOnSource(findLayerBreaches, text, "packages/flow/test/a.test.ts")).toHaveLength(1);
    expect(runOnSource(findLayerBreaches, text, "packages/sqlite/src/a.ts")).toHaveLength(1);
  });

  it("ARCH-01 refuses a package that has no place in it", () => {
    expect(runOnSource(findLayerBreaches, "", "packages/extras/src/a.ts")).toEqual([
      "packages/extras extras has no place in the order of layers",
    ]);
  });

  it("ARCH-01 leaves apps free to import every package", () => {
    const text = 'import "@holdpoint/cli"; import "@holdpoint/seal";';
    expect(runOnSource(findLayerBreaches, text, "apps/desk/src/a.ts")).toEqual([]);
  });
});

describe("a store", () => {
  const path = "packages/sqlite/src/a.ts";

  it.each([
    'import { a } from "@holdpoint/flow";',
    'import { type A } from "@holdpoint/flow";',
    'export { a } from "@holdpoint/flow";',
    'const flow = await import("@holdpoint/flow");',
  ])("ARCH-02 is refused a value of a layer: %s", (text) => {
    expect(runOnSource(findStoreBreaches, text, path)).toHaveLength(1);
  });

  it.each([
    ["a type", 'import type { A } from "@holdpoint/flow";', path],
    ["a re-exported type", 'export type { A } from "@holdpoint/flow";', path],
    [
      "a value in its test",
      'import { a } from "@holdpoint/flow/contract";',
      "packages/sqlite/test/a.ts",
    ],
  ])("ARCH-02 may import %s", (_, text, place) => {
    expect(runOnSource(findStoreBreaches, text, place)).toEqual([]);
  });
});

describe("public entries", () => {
  const files = {
    "packages/seal/package.json": { name: "@holdpoint/seal", exports: { ".": {}, "./node": {} } },
  };

  it.each([
    ["packages/flow/src/a.ts", "@holdpoint/seal/src/index.ts"],
    ["packages/flow/src/a.ts", "@holdpoint/seal/secret"],
    ["apps/desk/src/a.ts", "@holdpoint/seal/dist/index.js"],
    ["apps/desk/src/a.ts", "../../../packages/seal/src/index.ts"],
    ["packages/flow/test/a.test.ts", "../../seal/src/index.ts"],
    ["packages/flow/src/a.ts", "../../../scripts/spec.ts"],
    ["packages/flow/src/a.ts", "../test/fixture.ts"],
  ])("ARCH-03 refuses %s that imports %s", (path, specifier) => {
    expect(runRule(findEntryBreaches, { ...files, [path]: `import "${specifier}";` })).toHaveLength(
      1,
    );
  });

  it.each([
    ["packages/flow/src/a.ts", "@holdpoint/seal"],
    ["packages/flow/src/a.ts", "@holdpoint/seal/node"],
    ["packages/flow/src/run/a.ts", "../graph/b.ts"],
    ["packages/flow/test/a.test.ts", "../src/a.ts"],
    ["packages/flow/tsup.config.ts", "../../tsup.base.ts"],
    ["packages/flow/src/a.ts", "zod/v4/core"],
  ])("ARCH-03 allows %s that imports %s", (path, specifier) => {
    expect(runRule(findEntryBreaches, { ...files, [path]: `import "${specifier}";` })).toEqual([]);
  });
});

describe("a manifest", () => {
  const flow = "packages/flow/package.json";
  const tests = "packages/flow/test/a.test.ts";
  const seal = { "packages/seal/package.json": { name: "@holdpoint/seal" } };

  it.each([
    ["an import that it does not declare", {}, 'import "zod";'],
    [
      "a declared package that nothing imports",
      { dependencies: { zod: "4" } },
      "export const a = 1;",
    ],
    ["a peer that nothing imports", { peerDependencies: { zod: "4" } }, "export const a = 1;"],
    ["an import declared for tests only", { devDependencies: { zod: "4" } }, 'import "zod";'],
  ])("ARCH-04 is refused with %s", (_, manifest, text) => {
    const files = {
      [flow]: { name: "@holdpoint/flow", ...manifest },
      "packages/flow/src/a.ts": text,
      [tests]: "",
    };
    expect(runRule(findDependencyBreaches, files)).toHaveLength(1);
  });

  it("ARCH-04 is accepted where dependencies and peers are the imports, builtins apart", () => {
    const files = {
      ...seal,
      [flow]: {
        name: "@holdpoint/flow",
        dependencies: { "@holdpoint/seal": "workspace:^", "@noble/hashes": "2" },
        peerDependencies: { zod: "4" },
      },
      "packages/flow/src/a.ts":
        'import "node:fs"; import "@holdpoint/seal/node"; import type { Z } from "zod"; import "./b.ts";',
      "packages/flow/src/b.ts": 'export { sha256 } from "@noble/hashes/sha2.js";',
    };
    expect(runRule(findDependencyBreaches, files)).toEqual([]);
  });

  it("ARCH-04 declares a store's layers as peers", () => {
    const store = (field: string) => ({
      ...seal,
      "packages/sqlite/package.json": {
        name: "@holdpoint/sqlite",
        [field]: { "@holdpoint/seal": "*" },
      },
      "packages/sqlite/src/a.ts": 'import type { A } from "@holdpoint/seal";',
    });
    expect(runRule(findDependencyBreaches, store("peerDependencies"))).toEqual([]);
    expect(runRule(findDependencyBreaches, store("dependencies"))).toHaveLength(1);
  });

  it("ARCH-04 may declare more than is imported until its member has a test", () => {
    const files = {
      [flow]: { name: "@holdpoint/flow", dependencies: { zod: "4" } },
      "packages/flow/src/a.ts": "export const a = 1;",
    };
    expect(runRule(findDependencyBreaches, files)).toEqual([]);
    const tested = { ...files, [tests]: "" };
    expect(runRule(findDependencyBreaches, tested)).toEqual([
      `${flow} zod is declared and no source imports it`,
    ]);
    const imports = { ...files, "packages/flow/src/a.ts": 'import "zod"; import "hono";' };
    expect(runRule(findDependencyBreaches, imports)).toHaveLength(1);
  });

  it.each([
    ["a test's import that it does not declare", {}, 'import "zod";'],
    ["a development dependency that no test imports", { devDependencies: { zod: "4" } }, ""],
  ])("ARCH-05 is refused with %s", (_, manifest, text) => {
    const files = {
      [flow]: { name: "@holdpoint/flow", ...manifest },
      "packages/flow/src/a.ts": "export const a = 1;",
      [tests]: text,
    };
    expect(runRule(findDevDependencyBreaches, files)).toHaveLength(1);
  });

  it("ARCH-05 is accepted where tests use root tools, dependencies, peers and their own", () => {
    const files = {
      "package.json": { name: "root", devDependencies: { vitest: "5" } },
      [flow]: {
        name: "@holdpoint/flow",
        dependencies: { "@noble/hashes": "2" },
        peerDependencies: { zod: "4" },
        devDependencies: { zod: "4", canonicalize: "5" },
      },
      [tests]:
        'import "vitest"; import "zod"; import "canonicalize"; import "@noble/hashes/sha2.js"; import "@holdpoint/flow";',
    };
    expect(runRule(findDevDependencyBreaches, files)).toEqual([]);
  });
});

describe("import cycles", () => {
  it("ARCH-06 are found over any number of files, and told as a way", () => {
    const files = {
      "packages/flow/src/a.ts": 'import "./run/b.ts";',
      "packages/flow/src/run/b.ts": 'import { c } from "../c.ts";',
      "packages/flow/src/c.ts": 'export { a } from "./a.ts";',
    };
    expect(runRule(findCycles, files)).toEqual([
      "packages/flow/src/a.ts a cycle: packages/flow/src/a.ts → packages/flow/src/run/b.ts → packages/flow/src/c.ts → packages/flow/src/a.ts",
    ]);
  });

  it("ARCH-06 are no cycles where only types refer back, or where ways meet again", () => {
    const files = {
      "packages/flow/src/a.ts": 'import "./b.ts"; import "./c.ts";',
      "packages/flow/src/b.ts": 'import "./c.ts"; import type { A } from "./a.ts";',
      "packages/flow/src/c.ts": "",
    };
    expect(runRule(findCycles, files)).toEqual([]);
  });
});

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
    "export const ids = { randomUUID: () => 'a' };",
    'import { createHmac } from "node:crypto";',
    'import type { Timeout } from "node:timers";',
    "// Date.now() would be wrong here",
  ])("ARCH-07 are not found where nothing makes them: %s", (text) => {
    expect(runOnSource(findTimeAndChance, text)).toEqual([]);
  });

  it("ARCH-07 are made in the clock's file, in apps and in tests", () => {
    const text = "Date.now(); Math.random(); setTimeout(() => {}, 1); crypto.randomUUID();";
    for (const path of ["packages/approvals/src/clock.ts", "apps/desk/src/a.ts"]) {
      expect(runOnSource(findTimeAndChance, text, path)).toEqual([]);
    }
    expect(runOnSource(findTimeAndChance, text, "packages/flow/src/clock.ts")).toHaveLength(4);
  });

  it("ARCH-07 leave a keyring its random key, and no time", () => {
    const path = "packages/seal/src/sealing/keyring.ts";
    const key = "crypto.getRandomValues(new Uint8Array(32));";
    expect(runOnSource(findTimeAndChance, key, path)).toEqual([]);
    expect(runOnSource(findTimeAndChance, "Date.now();", path)).toHaveLength(1);
    expect(runOnSource(findTimeAndChance, key, "packages/flow/src/keyring.ts")).toHaveLength(1);
  });
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
    ["the words in a text", `export const a = "${"TO"}DO";`, "packages/flow/src/a.ts"],
  ])("ARCH-11 do not count %s", (_, text, path) => {
    expect(runOnSource(findEscapes, text, path)).toEqual([]);
  });
});

describe("exports", () => {
  const path = "packages/seal/src/index.ts";
  const entry = { "@holdpoint/source": "./src/index.ts" };
  const self = "./package.json";
  const manifest = (exports: object, shipped: object = exports) => ({
    "packages/seal/package.json": {
      name: "@holdpoint/seal",
      exports,
      publishConfig: { exports: shipped },
    },
    [path]: "export const a = 1;",
  });

  it("ARCH-12 are accepted when each is named and each entry has its source", () => {
    const files = manifest({ ".": entry, [self]: self });
    expect(runRule(findUnnamedExports, files)).toEqual([]);
    const namespace = { ...files, [path]: 'export * as codecs from "./codecs.ts";' };
    expect(runRule(findUnnamedExports, namespace)).toEqual([]);
  });

  it("ARCH-12 are refused as a star", () => {
    const files = { ...manifest({ ".": entry, [self]: self }), [path]: 'export * from "./a.ts";' };
    expect(runRule(findUnnamedExports, files)).toEqual([`${path}:1 exports without a name`]);
  });

  it.each([
    ["no manifest entry", manifest({ ".": entry })],
    ["no main entry", manifest({ [self]: self })],
    ["a wildcard", manifest({ ".": entry, [self]: self, "./*": entry })],
    ["an internal path", manifest({ ".": entry, [self]: self, "./internal": entry })],
    ["an entry that is not shipped", manifest({ ".": entry, [self]: self }, { [self]: self })],
    [
      "an entry that is shipped alone",
      manifest({ ".": entry, [self]: self }, { ".": entry, [self]: self, "./b": entry }),
    ],
    [
      "an entry without a source",
      manifest({ ".": entry, [self]: self, "./b": { default: "./b.js" } }),
    ],
  ])("ARCH-12 are refused with %s", (_, files) => {
    expect(runRule(findUnnamedExports, files)).toHaveLength(1);
  });
});
