import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { commands } from "../src/catalog.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

describe("the README", () => {
  it("DESK-30 shows the config that is loaded here, letter by letter", async () => {
    expect(readdirSync(new URL("samples", import.meta.url))).toContain("holdpoint.config.ts");
    const [, sample] = /```ts\n([\s\S]*?)```/.exec(read("../README.md"))!;
    expect(sample).toBe(read("samples/holdpoint.config.ts"));
    const { default: config } = await import("./samples/holdpoint.config.ts");
    expect(config.definitions).toHaveLength(1);
  });

  it("DESK-30 names every command", () => {
    for (const { path } of commands) expect(read("../README.md")).toContain(`\`${path}`);
  });
});
