import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { behind, url } from "./place.ts";

const samples = join(import.meta.dirname, "samples");
const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const blocks = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, text]) => text);

// They run in a database as a reader has it: with a table of somebody's in its schema `public`.
const prepare = async (): Promise<void> => {
  await behind.query("DROP SCHEMA IF EXISTS holdpoint CASCADE; DROP SCHEMA IF EXISTS desk CASCADE");
};
beforeAll(async () => {
  await prepare();
  await behind.query("CREATE TABLE IF NOT EXISTS public.readers_own (a int)");
});
afterAll(prepare);

describe("the README's samples", () => {
  it("STORE-01 are the files that run here", () => {
    const files = readdirSync(samples).map((name) => readFileSync(join(samples, name), "utf8"));
    expect(new Set(blocks)).toEqual(new Set(files));
  });

  it.each([
    ["first-run.ts", "paused\ncompleted\n"],
    ["own-pool.ts", "true\nschema-foreign\n"],
  ])("STORE-01 do what they say: %s", async (name, printed) => {
    const args = ["--conditions=@holdpoint/source", join(samples, name)];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      env: { DATABASE_URL: url },
    });
    expect(stderr).toBe("");
    expect(stdout).toBe(printed);
    expect(readme).toContain(`\`\`\`text\n${printed}\`\`\``);
  });
});
