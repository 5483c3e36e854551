import { describe, expect, it } from "vitest";

import { findCycles } from "../src/architecture/cycles.ts";
import {
  findDependencyBreaches,
  findDevDependencyBreaches,
} from "../src/architecture/manifests.ts";
import { findUnnamedExports } from "../src/architecture/named-exports.ts";
import { runRule } from "./fixture-workspace.ts";

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

  it("ARCH-04 passes on what its dependencies have as peers, and nothing else", () => {
    const files = (peer: string) => ({
      "packages/workflows/package.json": {
        name: "@holdpoint/workflows",
        peerDependencies: { zod: "4" },
      },
      "packages/workflows/src/a.ts": 'import type { Z } from "zod";',
      "packages/cli/package.json": {
        name: "@holdpoint/cli",
        dependencies: { "@holdpoint/workflows": "*" },
        peerDependencies: { [peer]: "4" },
      },
      "packages/cli/src/a.ts": 'import "@holdpoint/workflows";',
      "packages/cli/test/a.test.ts": "",
    });
    expect(runRule(findDependencyBreaches, files("zod"))).toEqual([]);
    expect(runRule(findDependencyBreaches, files("pg"))).toHaveLength(1);
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

  it("ARCH-05 may declare the types of what its tests import, and no others", () => {
    const files = {
      [flow]: {
        name: "@holdpoint/flow",
        devDependencies: {
          "@a/b": "1",
          "@types/a__b": "1",
          "big.js": "7",
          "@types/big.js": "7",
          "@types/b": "1",
        },
      },
      [tests]: 'import "big.js"; import "@a/b/c.js"; import "./b.ts";',
    };
    expect(runRule(findDevDependencyBreaches, files)).toEqual([`${flow} no test imports @types/b`]);
    expect(runRule(findDevDependencyBreaches, { ...files, [tests]: 'import "@a/b";' })).toEqual([
      `${flow} no test imports big.js`,
      `${flow} no test imports @types/big.js`,
      `${flow} no test imports @types/b`,
    ]);
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
