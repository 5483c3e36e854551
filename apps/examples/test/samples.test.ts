import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { outputOf, readme, synced } from "../src/sync-readme.ts";

describe("the samples", () => {
  it("ARCH-16 the README's samples are files that compile and run, with the output that it shows", () => {
    const text = readFileSync(readme, "utf8");
    expect(synced(text)).toBe(text);
  });

  it("ARCH-16 the README's closing table is the one that the desk's own README has replayed", () => {
    const table = /<!-- demo -->\n\n```text\n([\s\S]*?)```/.exec(readFileSync(readme, "utf8"))![1]!;
    const desk = readFileSync(new URL("apps/desk/README.md", readme), "utf8");
    expect(table.trim().split("\n")).toHaveLength(10);
    for (const line of table.trim().split("\n")) expect(desk).toContain(line.trim());
  });

  it("ARCH-16 the durable sample goes on from its file in a new process's objects", () => {
    expect(outputOf("apps/examples/src/durable.ts").split("\n")).toEqual([
      "paused issue_refund",
      "paused issue_refund",
      "completed",
      "22 events, the last: completed",
      "",
    ]);
  });
});
