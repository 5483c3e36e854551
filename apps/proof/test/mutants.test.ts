import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { mutants } from "../src/mutants/list.ts";

const root = join(import.meta.dirname, "../../..");

describe("the promises that are taken away", () => {
  it("each have one place in the sources, and another text to put there", () => {
    const lost = mutants.filter(({ file, find, put }) => {
      const source = readFileSync(join(root, file), "utf8");
      return source.split(find).length !== 2 || put === find;
    });
    expect(lost.map(({ name }) => name)).toEqual([]);
  });

  it("each have tests that are there", () => {
    const missing = mutants.filter(({ project, tests }) => {
      const files = globSync(`{packages,apps}/${project}/test/**/*.test.ts`, { cwd: root });
      return !files.some((path) => path.includes(tests));
    });
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});
