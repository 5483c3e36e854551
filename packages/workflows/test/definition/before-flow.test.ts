// Nothing that its schema refuses gets any further (WF-02).
import { defineInterrupt, flow } from "@holdpoint/flow";
import { expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, InvalidInputError } from "../../src/index.ts";
import { desks } from "../supervisor/desks.ts";

const Verdict = defineInterrupt({ name: "verdict", answer: z.strictObject({ ok: z.boolean() }) });

function claims() {
  const begun: unknown[] = [];
  const State = z.object({ id: z.string(), ok: z.boolean().optional() });
  const built = flow("claim", State)
    .node("judge", async (_, ctx) => ({ ok: (await ctx.ask(Verdict)).ok }), { asks: [Verdict] })
    .build();
  const definition = defineWorkflow({
    name: "claim",
    version: "1",
    input: z.object({ id: z.string() }),
    resume: z.object({ ok: z.boolean() }),
    flow: built,
    begin: (input) => {
      begun.push(input);
      return input;
    },
  });
  return { begun, definition };
}

const refusedAt = (boundary: "input" | "resume", path: string) =>
  expect.objectContaining({
    code: "input-invalid",
    boundary,
    issues: [expect.objectContaining({ path })],
  });

it("WF-02 WF-22 a refused input leaves no run, and a refused payload leaves the run as it was", async () => {
  const { begun, definition } = claims();
  const { openOf, home } = desks();
  const desk = openOf([definition]);
  await desk.activate();
  const bad: readonly (readonly [input: unknown, path: string])[] = [
    [{ id: 7 }, "id"],
    [{ id: "A", note: "" }, "note"],
    [{ id: "A", self: () => 1 }, "self"],
  ];
  for (const [input, path] of bad) {
    await expect(desk.start("claim", input as never)).rejects.toEqual(refusedAt("input", path));
  }
  expect(home.rows("runs", "default")).toEqual([]);
  expect(home.rows("log", "default")).toEqual([]);
  expect(begun).toEqual([]);

  const { runId } = await desk.start("claim", { id: "A" });
  const waiting = await desk.settled(runId);
  const rows = () => [home.rows("runs", "default"), home.rows("log", "default")];
  const before = rows();
  for (const [payload, path] of [
    [{ ok: "yes" }, "ok"],
    [{ ok: true, by: "me" }, "by"],
  ] as const) {
    const resuming = desk.resume(definition, runId, payload as never);
    await expect(resuming).rejects.toEqual(refusedAt("resume", path));
  }
  expect(rows()).toEqual(before);
  expect(await desk.get(runId)).toEqual(waiting);
  expect(begun).toEqual([{ id: "A" }]);
});

it("WF-02 a schema that throws has refused, and what it threw is kept and not shown", async () => {
  const broken = z.object({ pin: z.string() }).refine(() => {
    throw new Error("planned, with 4242 in it");
  });
  const own = defineWorkflow({
    name: "broken",
    version: "1",
    input: broken,
    flow: flow("broken", z.object({}))
      .node("end", () => ({}))
      .build(),
    begin: () => ({}),
  });
  const error = await own.validateInput('{"pin":"4242"}').catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ boundary: "input", cause: expect.any(Error) });
  expect(`${(error as Error).message}${JSON.stringify(error)}`).not.toContain("4242");
});
