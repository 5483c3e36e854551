import { editedArguments, identityPort } from "@holdpoint/approvals";
import { approve, flow, flowEdits } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { defineWorkflow, type RunView } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { desks } from "./desks.ts";

const State = z.object({ cents: z.int() });

/** A gate that two people open, whose amount either may change. */
const twoKeys = flow("vault", State)
  .gate("open", {
    payload: ({ cents }) => ({ cents }),
    quorum: 2,
    edits: { schema: State, apply: ({ cents }) => ({ cents }) },
  })
  .build();
const vault = defineWorkflow({ name: "vault", version: "1", input: State, flow: twoKeys });

const people = identityPort((name) => ({ id: String(name) }));
const dana = await people.authenticate("dana");
const rita = await people.authenticate("rita");

async function waiting() {
  const world = desks();
  const desk = world.openOf([vault], { edits: flowEdits([twoKeys]) });
  await desk.activate();
  const { runId } = await desk.start("vault", { cents: 500 });
  const { waitsFor } = await desk.settled(runId);
  return { ...world, desk, runId, approvalId: askedIn({ waitsFor }) };
}

function askedIn({ waitsFor }: Pick<RunView, "waitsFor">): string {
  expect(waitsFor).toHaveLength(1);
  return waitsFor[0]!.id;
}

describe("deciding", () => {
  it("WF-24 APR-14 says how many people are still asked, and resumes when none is", async () => {
    const { desk, runId, approvalId } = await waiting();
    const first = await desk.decide(approvalId, approve({ by: dana }));
    expect(first).toEqual({ status: "accepted", runId, missing: 1 });
    await rest();
    expect((await desk.get(runId))?.status).toBe("interrupted");
    expect(await desk.explain(runId)).toMatchObject({
      why: "waits-for-people",
      questions: [{ missing: 1 }],
    });
    const last = await desk.decide(approvalId, approve({ by: rita }));
    expect(last).toEqual({ status: "accepted", runId });
    expect((await desk.settled(runId)).status).toBe("completed");
  });

  it("WF-24 APR-16 names the approval that an edit put in its place, and the run waits for that one", async () => {
    const { desk, runId, approvalId } = await waiting();
    const edited = editedArguments("node:vault.open", { cents: 600 });
    const taken = await desk.decide(approvalId, approve({ by: dana, edited }));
    expect(taken).toMatchObject({ status: "accepted", runId });
    const { supersededBy = "" } = taken;
    expect(supersededBy).not.toBe("");
    expect(supersededBy).not.toBe(approvalId);
    await rest();
    expect((await desk.get(runId))?.status).toBe("interrupted");
    for (const by of [dana, rita]) await desk.decide(supersededBy, approve({ by }));
    expect((await desk.settled(runId)).status).toBe("completed");
    expect(await desk.output(vault, runId)).toEqual({ cents: 600 });
  });

  it("WF-24 answers by code to what is no approval, and moves nothing", async () => {
    const { desk, runId } = await waiting();
    const unknown = desk.decide("approval-0", approve({ by: dana }));
    await expect(unknown).rejects.toMatchObject({ code: "approval-not-found" });
    expect((await desk.get(runId))?.status).toBe("interrupted");
  });
});
