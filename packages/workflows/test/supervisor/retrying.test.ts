import { flow } from "@holdpoint/flow";
import { defineTool, ToolError } from "@holdpoint/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { desks } from "./desks.ts";

it("WF-29 WF-26 goes on although its end was wished before it failed: whoever retries it has the later word", async () => {
  const { openOf } = desks();
  let fail: (error: unknown) => void = () => undefined;
  let breaks = true;
  const work = defineTool({
    name: "work",
    description: "Works until the test says how it ended.",
    input: z.object({}),
    idempotent: true,
    execute: () =>
      breaks ? new Promise<never>((_, reject) => (fail = reject)) : Promise.resolve(undefined),
  });
  const job = defineWorkflow({
    name: "job",
    version: "1",
    input: z.object({}),
    flow: flow("job", z.object({}))
      .call("work", work, { args: {}, into: () => ({}) })
      .build(),
  });
  const owner = openOf([job]);
  await owner.activate();
  const { runId } = await owner.start("job", {});
  await rest();
  const other = openOf([job]);
  await other.activate();
  expect((await other.cancel(runId, { reason: "enough" })).status).toBe("requested");
  fail(new ToolError("broken"));
  expect((await owner.settled(runId)).status).toBe("failed");
  breaks = false;
  await owner.retry(runId);
  const done = await owner.settled(runId);
  expect([done.status, done.cancelRequested]).toEqual(["completed", false]);
  await owner.shutdown();
  await other.shutdown();
});
