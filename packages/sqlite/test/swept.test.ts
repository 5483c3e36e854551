import { DeferredApproval } from "@holdpoint/approvals";
import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { defineWorkflow, Supervisor } from "@holdpoint/workflows";
import { expect, it } from "vitest";
import { z } from "zod";

import { openSqlite } from "../src/index.ts";
import { movedClock, place } from "./place.ts";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const State = z.object({ end: z.string().optional() });
const gated = flow("gated", State)
  .gate("review", { payload: () => ({}), expiresInMs: 60_000 })
  .node("paid", () => ({ end: "paid" }))
  .node("late", () => ({ end: "late" }))
  .path("review", "paid")
  .denied("review", "late")
  .build();
const definition = defineWorkflow({ name: "gated", version: "1", input: State, flow: gated });

it("WF-28 APR-13 finds what was swept by hand in a file while nobody held the session", async () => {
  const path = place()();
  const clock = movedClock();
  const open = (onCompleted: () => void = () => undefined) => {
    const store = openSqlite(path, { clock });
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type === "completed") onCompleted();
    };
    const how = { store, clock, keyring, session: "desk", pollMs: 10, onEvent };
    return { store, supervisor: new Supervisor({ ...how, definitions: [definition] }) };
  };
  const first = open();
  await first.supervisor.activate();
  const { runId } = await first.supervisor.start("gated", {});
  await first.supervisor.settled(runId);
  await first.supervisor.shutdown();
  clock.move(86_400_000);
  const { records } = new DeferredApproval(first.store.approvals, { keyring });
  expect(await records.sweep("default")).toHaveLength(1);
  first.store.close();
  let second: ReturnType<typeof open> | undefined;
  await new Promise<void>((resolve, reject) => {
    second = open(resolve);
    second.supervisor.activate().catch(reject);
  });
  expect(await second!.supervisor.output(definition, runId)).toEqual({ end: "late" });
  await second!.supervisor.shutdown();
  second!.store.close();
});
