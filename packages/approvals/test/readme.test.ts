import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const samples = readdirSync(new URL("samples", import.meta.url)).map((file) =>
  file.replace(/\.ts$/, ""),
);
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

describe("the README's samples", () => {
  it.each(samples)("APR-11 APR-24 the sample %s is the README's block, and runs", async (name) => {
    const source = readFileSync(new URL(`samples/${name}.ts`, import.meta.url), "utf8");
    expect(readme).toContain(`<!-- sample: ${name} -->\n\n\`\`\`ts\n${source}\`\`\`\n`);
    await expect(import(`./samples/${name}.ts`)).resolves.toBeDefined();
  });

  it("APR-11 has no block of code in the README that is not a sample", () => {
    expect(readme.match(/```ts/g)).toHaveLength(samples.length);
  });
});
