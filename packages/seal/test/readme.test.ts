import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const run: { readonly [sample: string]: () => Promise<unknown> } = {
  "seal-and-open": () => import("./samples/seal-and-open.ts"),
  rotate: () => import("./samples/rotate.ts"),
  model: () => import("./samples/model.ts"),
  codec: () => import("./samples/codec.ts"),
  digest: () => import("./samples/digest.ts"),
  secret: () => import("./samples/secret.ts"),
};
const samples = readdirSync(new URL("samples", import.meta.url)).map((file) =>
  file.replace(/\.ts$/, ""),
);
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

describe("the README's samples", () => {
  it.each(samples)("SEAL-40 SEAL-45 %s is the README's block, and runs", async (name) => {
    const source = readFileSync(new URL(`samples/${name}.ts`, import.meta.url), "utf8");
    expect(readme).toContain(`<!-- sample: ${name} -->\n\n\`\`\`ts\n${source}\`\`\`\n`);
    await expect(run[name]?.()).resolves.toBeDefined();
  });

  it("SEAL-51 has no block that is not a sample", () => {
    expect(readme.match(/```ts/g)).toHaveLength(samples.length);
  });
});
