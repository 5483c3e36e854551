import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "holdpoint-types-"));
symlinkSync(join(root, "apps/proof/node_modules"), join(folder, "node_modules"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const head = `
import { flow } from "@holdpoint/flow";
import { defineTool } from "@holdpoint/tools";
import { z } from "zod";

const State = z.object({ id: z.string(), n: z.int().default(0), got: z.string().optional() });
const tool = defineTool({
  name: "tool",
  description: "Does something.",
  input: z.object({ id: z.string(), n: z.int() }),
  output: z.object({ got: z.string() }),
  execute: ({ id }) => ({ got: id }),
});
export const built = flow("large", State)`;

const kinds: readonly ((at: number) => string)[] = [
  (at) => `.node("n${at}", async (s, ctx) => ctx.call(tool, { id: s.id, n: ${at} }))`,
  (at) => `.node("n${at}", (s) => ({ n: s.n + 1 }))`,
  (at) => `.gate("n${at}", { payload: (s) => ({ id: s.id }) })`,
  (at) => `.call("n${at}", tool, { args: (s) => ({ id: s.id, n: s.n }), into: (r) => r })`,
  (at) =>
    `.map("n${at}", { over: (s) => [s.n], each: (n, ctx) => ctx.step("twice", () => 2 * n), into: (r) => ({ n: r.values.length }) })`,
];

/** How many types the checker makes of others for a flow of so many nodes: its work, whatever the machine. */
function instantiations(nodes: number): number {
  const names = Array.from({ length: nodes }, (_, at) => `"n${at}"`);
  const steps = names.map((_, at) => kinds[at % kinds.length]!(at));
  const file = join(folder, `of-${nodes}.mts`);
  writeFileSync(file, `${head}\n${steps.join("\n")}\n.path(${names.join(", ")})\n.build();\n`);
  const config = join(folder, `of-${nodes}.json`);
  const typeRoots = [join(root, "node_modules/@types")];
  const compilerOptions = { noEmit: true, types: ["node"], typeRoots };
  const how = { extends: join(root, "tsconfig.base.json"), compilerOptions, files: [file] };
  writeFileSync(config, JSON.stringify(how));
  const tsc = join(root, "node_modules/.bin/tsc");
  const printed = execFileSync(tsc, ["-p", config, "--extendedDiagnostics"], { encoding: "utf8" });
  return Number(/Instantiations:\s+(\d+)/.exec(printed)?.[1]);
}

it("FLOW-02 costs the checker a fixed number of types a node: as many each for a hundred as for fifty", () => {
  const [few, fifty, hundred] = [instantiations(2), instantiations(50), instantiations(100)];
  const each = (fifty - few) / 48;
  expect(each).toBeGreaterThan(0);
  expect(each).toBeLessThan(1_000);
  expect((hundred - fifty) / 50 / each).toBeLessThan(1.5);
});
