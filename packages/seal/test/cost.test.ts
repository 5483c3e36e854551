import { execFileSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { createKeyring, open, seal } from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { cpuMs, quickest } from "./cpu-time.ts";

const options = {
  keyring: createKeyring({ current: { id: "k1", key: new Uint8Array(32) }, mac: nodeMac }),
  purpose: "checkpoint",
};

/** What CI's machine may be slower by, and how much noise a ratio of two times bears; `docs/reports/seal-bench.md` has the figures. */
const SLACK = 4;

/** A state of about so many bytes: orders with lines, as a program would hold them. */
function nested(bytes: number): object {
  const order = (index: number): object => ({
    id: `ord_${String(index).padStart(8, "0")}`,
    status: "paid",
    express: index % 2 === 0,
    customer: { name: "Dana Example", address: { city: "Bern", postcode: "3000" } },
    lines: [
      { sku: `SKU-${index}`, title: "a blue chair", quantity: 2, unitPrice: 19.9, discount: null },
      { sku: "SKU-7", title: "postage", quantity: 1, unitPrice: 4.5, discount: 10 },
    ],
  });
  const size = JSON.stringify(order(1)).length + 1;
  return { orders: Array.from({ length: Math.ceil(bytes / size) }, (_, index) => order(index)) };
}

describe("what sealing costs", () => {
  it("P10 seals 2 MB within 100 ms and opens it within 150 ms", () => {
    const value = nested(2_000_000);
    const sealed = seal(value, options);
    const bounds = { seal: 100 * SLACK, open: 150 * SLACK };
    expect(quickest(() => seal(value, options), bounds.seal)).toBeLessThan(bounds.seal);
    expect(quickest(() => open(sealed, options), bounds.open)).toBeLessThan(bounds.open);
    expect(open(sealed, options).value).toEqual(value);
  });

  it("P10 takes a time that is linear from 10 KB to 8 MB", () => {
    const small = nested(10_000);
    const large = nested(8_000_000);
    const sealed = { small: seal(small, options), large: seal(large, options) };
    // As many bytes for both, so that the clock's steps weigh as little in each.
    const often = (run: () => unknown) => (): void => {
      for (let i = 0; i < 800; i++) run();
    };
    for (const [few, many] of [
      [() => seal(small, options), () => seal(large, options)],
      [() => open(sealed.small, options), () => open(sealed.large, options)],
    ] as const) {
      const bound = cpuMs(often(few)) * 1.5 * SLACK;
      expect(quickest(many, bound)).toBeLessThan(bound);
    }
  });

  it.each(["seal", "open"])("P10 %s takes at most six times the memory of 2 MB", (what) => {
    const source = `
      import { createKeyring, open, seal } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
      import { nodeMac } from ${JSON.stringify(new URL("../src/node.ts", import.meta.url).href)};
      const keyring = createKeyring({ current: { id: "k", key: new Uint8Array(32) }, mac: nodeMac });
      const options = { keyring, purpose: "checkpoint" };
      const pages = Array.from({ length: 100 }, (_, i) => Buffer.alloc(20_000, "page " + i + " ").toString());
      let value = { run: "run_0001", pages };
      open(seal({ run: "x", pages: ["y"] }, options), options);
      const sealed = ${what === "open" ? "seal(value, options)" : "undefined"};
      globalThis.gc();
      const start = process.memoryUsage().rss;
      const result = ${what === "open" ? "open(sealed, options)" : "seal(value, options)"};
      const peak = Math.max(process.resourceUsage().maxRSS * 1024, process.memoryUsage().rss);
      console.log((peak - start) / 2_000_000, result === undefined);`;
    const args = [
      "--expose-gc",
      "--conditions=@holdpoint/source",
      "--input-type=module",
      "-e",
      source,
    ];
    const printed = execFileSync(process.execPath, args, { encoding: "utf8" });
    expect(Number(printed.split(" ")[0])).toBeLessThanOrEqual(6);
  });
});
