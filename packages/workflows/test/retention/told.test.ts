// What was to be told of a run goes with it (STORE-09, WF-36).
import { memoryRemover } from "@holdpoint/approvals";
import { expect, it } from "vitest";

import { memoryOutbox, Retention } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { keyring } from "../world.ts";
import { desks, supervisorStore } from "../supervisor/desks.ts";

const dayMs = 86_400_000;

it("STORE-09 WF-36 takes out what was told of a run, and what was not, and nothing of another", async () => {
  const { clock, home, open } = desks();
  let isAway = false;
  const notify = (): void => {
    if (isAway) throw new Error("planned: the mail server is away");
  };
  const store = { ...supervisorStore(home), outbox: memoryOutbox(home) };
  const desk = open({ store, notify });
  await desk.activate();
  const ended = async (orderId: string): Promise<string> => {
    const { runId } = await desk.start("refund", { orderId });
    await desk.settled(runId);
    await desk.cancel(runId, { reason: "no more" });
    await rest();
    return runId;
  };
  const told = await ended("A-1");
  isAway = true;
  const untold = await ended("A-2");
  const { runId: waiting } = await desk.start("refund", { orderId: "A-3" });
  await desk.settled(waiting);
  await rest();
  const rows = (state?: string) =>
    home
      .rows("outbox", "default")
      .filter(({ values }) => state === undefined || values["state"] === state)
      .map(({ key }) => key.split("/")[0]);
  expect(new Set(rows("done"))).toEqual(new Set([told]));
  expect(new Set(rows("waiting"))).toEqual(new Set([untold, waiting]));
  clock.step(30 * dayMs);
  const retention = new Retention({ store, removal: memoryRemover(home), keyring, clock });
  const { removed } = await retention.purge({ olderThanMs: 7 * dayMs });
  expect(new Set(removed)).toEqual(new Set([told, untold]));
  expect(rows()).toEqual([waiting]);
  await clock.advance(600_000);
  expect(rows()).toEqual([waiting]); // who was to be told anew found nothing, and went on
});

it("STORE-09 refuses an outbox that its removal does not reach", () => {
  const { home, clock } = desks();
  const removal = memoryRemover(home);
  const elsewhere = { ...supervisorStore(home), outbox: memoryOutbox() };
  expect(() => new Retention({ store: elsewhere, removal, keyring, clock })).toThrow(
    expect.objectContaining({ code: "option-invalid" }),
  );
});
