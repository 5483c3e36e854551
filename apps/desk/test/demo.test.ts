import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { runDesk } from "./desk-process.ts";
import { temporaryFolder } from "./folder.ts";

/** How far a pass had got when its process was killed is as it comes; one that ended has told of all. */
const progress = /^ +(?:50|100|150) of 200 requests\n/gm;

/** Ids are drawn anew at each run, and time passes as it likes. */
function steady(text: string): string[] {
  return text
    .replaceAll(progress, "")
    .replaceAll(/^ {2}[\w-]{8} {2}(?=R-)/gm, "  ········  ")
    .replaceAll(/(the approval |run-)[\w-]{22}/g, "$1········")
    .replaceAll(/^ {2}\d+\.\d s$/gm, "  ··· s")
    .trim()
    .split("\n");
}

describe("the demo", () => {
  it("DESK-10 DESK-03 exits 0 with books that balance, and prints what the README shows", async () => {
    const temporary = temporaryFolder();
    const { code, stdout, stderr } = await runDesk(["demo"], { TMPDIR: temporary });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const transcript = readme.split("```text\n")[1]!.split("```")[0]!;
    expect(steady(stdout)).toEqual(steady(transcript));
    expect(stdout.match(progress)?.length).toBeGreaterThanOrEqual(12); // four passes end

    const table = new Map(
      [...stdout.matchAll(/^ {2}([a-z ]{2,16}?) {2,}(\w+)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    expect(Object.fromEntries(table)).toMatchObject({
      requests: "200",
      "bad lines": "9",
      "double payments": "0",
      "books balance": "yes",
    });
    const count = (name: string): number => Number(table.get(name));
    const finished = count("paid once") + count("denied") + count("refused by rule");
    expect(finished + count("waiting") + count("set aside")).toBe(200);
    expect(count("replayed calls")).toBeGreaterThan(1);
    expect(stdout).toMatch(/the bank has made (\d+) payments, the desk knows of (?!\1)\d+/);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
