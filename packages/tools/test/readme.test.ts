import { readdirSync, readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const blocks = [...read("../README.md").matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);

describe("the README", () => {
  it("TOOL-09 shows the samples that run here, letter by letter", () => {
    const samples = readdirSync(new URL("samples", import.meta.url)).map((file) =>
      read(`samples/${file}`),
    );
    expect(samples.length).toBe(3);
    expect(new Set(blocks)).toEqual(new Set(samples));
  });

  it("TOOL-09 calls a tool alone", async () => {
    const { refundId, refused } = await import("./samples/first-call.ts");
    expect(refundId).toBe("A-17:4900:request-1");
    expect(refused).toMatchObject({ ok: false, error: { code: "arguments-invalid" } });
  });

  it("TOOL-09 asks a person first", async () => {
    const { waits, done } = await import("./samples/ask-first.ts");
    expect(waits).toMatchObject({ ok: false, error: { code: "approval-pending" } });
    expect(done).toMatchObject({ ok: true, value: "A-17: paid back 45000" });
  });

  it("TOOL-05 bounds what a run may do", async () => {
    const { ledger, paid, tooMuch } = await import("./samples/bounds.ts");
    expect(paid).toBe(4900);
    expect(tooMuch).toMatchObject({ ok: false, error: { code: "guard-refused" } });
    expect(ledger.entries).toMatchObject([{ tool: "charge", attempts: 2, outcome: "ok" }]);
  });
});
