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
    for (const name of [
      "seal",
      "approvals",
      "tools",
      "flow",
      "workflows",
      "sqlite",
      "postgres",
      "testing",
    ]) {
      expect(folders).toContain(`packages/${name}`);
    }
    expect(folders).toContain("apps/proof");
    const packages = tree.members.filter(({ folder }) => folder.startsWith("packages/"));
    expect(packages.filter(({ source }) => source.length === 0)).toEqual([]);
    expect(tree.scripts.map((file) => file.path)).toContain("scripts/spec.ts");
  });

  it("ARCH-01 is refused by name where a file does not parse", () => {
    expect(() => runOnSource(findLayerBreaches, "export const = 1;")).toThrow(
      /^packages\/flow\/src\/a\.ts does not parse/,
    );
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
    const twin = 'import { a } from "@holdpoint/postgres";';
    expect(runOnSource(findLayerBreaches, twin, "packages/sqlite/test/a.test.ts")).toHaveLength(1);
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
