import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { launchBrowser } from "../../../scripts/browser.ts";
import { coreCases, type CoreVectors } from "./core-cases.ts";
import { evaluate } from "./vectors.ts";

function file(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));
}
const vectors = {
  values: file("values"),
  seals: file("seals"),
  refused: file("refused"),
} as CoreVectors;

/** The core with the vectors' expressions compiled in: a page has no `vm` to evaluate them. */
function program(): string {
  const table = vectors.values.map(({ js }) => `[${JSON.stringify(js)}, () => (${js})]`).join(",");
  return `
    import { runCore } from "./browser-entry.ts";
    const table = new Map([${table}]);
    globalThis.holdpointCore = runCore(${JSON.stringify(vectors)}, (js) => table.get(js)());`;
}

describe("the core in Node", () => {
  it.each(coreCases(vectors, evaluate))("SEAL-50 SEAL-51 $title", ({ run }) => {
    expect(run).not.toThrow();
  });
});

describe("the core in Chromium", () => {
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  it("SEAL-50 SEAL-51 holds on a page and in a worker, without Node", async () => {
    const bundle = await build({
      stdin: { contents: program(), resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
      bundle: true,
      format: "iife",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    const source = bundle.outputFiles[0]!.text;
    const page = await browser.newPage();
    const onPage: unknown = await page.evaluate(`${source}; globalThis.holdpointCore`);
    const inWorker: unknown = await page.evaluate(
      `new Promise((resolve) => {
        const source = ${JSON.stringify(`${source}; postMessage(globalThis.holdpointCore)`)};
        const worker = new Worker(URL.createObjectURL(new Blob([source])));
        worker.onmessage = (event) => resolve(event.data);
        worker.onerror = (event) => resolve(event.message);
      })`,
    );
    const all = coreCases(vectors, evaluate).length;
    const temporal = vectors.values.filter(({ js }) => js.includes("Temporal")).length;
    for (const result of [onPage, inWorker]) {
      const { passed, failed } = result as { passed: number; failed: string[] };
      expect(failed).toEqual([]);
      expect([all, all - temporal]).toContain(passed);
    }
  });
});
