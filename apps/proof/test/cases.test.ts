import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { describe, expect, it } from "vitest";

const repository = resolve(import.meta.dirname, "../../..");

/** Everything that a package's tests say. */
function testsOf(name: string): string {
  const folder = join(repository, "packages", name, "test");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}

describe("the cases of pausing and resuming", () => {
  it("name tests that are there, case by case", () => {
    const text = readFileSync(join(repository, "docs/pause-and-resume-cases.md"), "utf8");
    const rows = [...text.matchAll(/^\| (\d+)\. .* \| (.*?) +\|$/gmu)];
    expect(rows.map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 38 }, (_, index) => index + 1),
    );
    const tests = new Map<string, string>();
    const missing = rows.flatMap(([, number, shown]) =>
      shown!.split(" · ").filter((one) => {
        const [, name = "", title = ""] = /^(\w+): (.*)$/u.exec(one) ?? [];
        const known = tests.get(name) ?? testsOf(name);
        tests.set(name, known);
        return title === "" || !known.includes(title) ? `${number}: ${one}` : false;
      }),
    );
    expect(missing).toEqual([]);
  });
});
