import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { place } from "./place.ts";

const samples = join(import.meta.dirname, "samples");
const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const blocks = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, text]) => text);

describe("the README's samples", () => {
  it("STORE-01 are the files that run here", () => {
    const files = readdirSync(samples).map((name) => readFileSync(join(samples, name), "utf8"));
    expect(new Set(blocks)).toEqual(new Set(files));
  });

  it.each([
    ["first-run.ts", "paused\ncompleted\n"],
    ["own-handle.ts", "true\ndirectory-missing\n"],
  ])("STORE-01 do what they say: %s", async (name, printed) => {
    const cwd = dirname(place()());
    const args = ["--conditions=@holdpoint/source", join(samples, name)];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd });
    expect(stderr).toBe("");
    expect(stdout).toBe(printed);
    expect(readme).toContain(`\`\`\`text\n${printed}\`\`\``);
  });
});
