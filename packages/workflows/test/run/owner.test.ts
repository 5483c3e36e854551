import { memoryHome, type Write } from "@holdpoint/approvals";
import { appendWrite, type RunEvent, type RunLog } from "@holdpoint/flow";
import { describe, expect, it } from "vitest";

import { pendingRun, type RunFacts } from "../../src/registry/record.ts";
import { resolveParts } from "../../src/run/options.ts";
import { RunOwner } from "../../src/run/owner.ts";
import type { RunnerParts } from "../../src/run/parts.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, handClock, keyring } from "../world.ts";

const facts: RunFacts = {
  id: "run-1",
  scope: "default",
  session: undefined,
  definition: "refund",
  version: "1",
  parent: undefined,
  startedBy: undefined,
  startKey: undefined,
  inputDigest: "digest",
  input: "{}",
  createdAt: 1_000,
};
const at = 2_000;
const dropped: RunEvent = { type: "call-dropped", visit: "a#1", tool: "t", at };
const paused: RunEvent = { type: "paused", at };
const answered: RunEvent = { type: "answered", attemptId: "a", answers: [], at };

/** An owner of a running run whose log stands at 1, with what it gives its runner in the test's hands. */
async function owned({ tells = false } = {}) {
  const clock = handClock();
  const home = memoryHome({ clock });
  const stores = storesOn({ approvals: home, log: home, runs: home });
  const store = tells ? { ...stores, log: tellingTails(stores.log) } : stores;
  const ids = countingIds("owner");
  const parts = resolveParts({ store, definitions: [], keyring, clock, ids });
  const given: RunnerParts[] = [];
  const spied = {
    ...parts,
    runner: (own: RunnerParts) => {
      given.push(own);
      return parts.runner(own);
    },
  };
  const running = { ...pendingRun(facts), standing: { status: "running" }, revision: 1 } as const;
  const opened = await parts.access.put(running, 0);
  const owner = new RunOwner(spied, opened);
  const { log, alongside } = given[0]!;
  let revision = 1;
  let attempts = 0;
  /** Commits events as a runner does, with other writes before them. */
  async function commit(events: readonly RunEvent[], before: readonly Write[] = []) {
    const appended = events.map((_, n) =>
      appendWrite("default", "run-1", revision + n + 1, "text"),
    );
    const above = events.flatMap((event) => alongside!(event, "run-1"));
    const writes = [...before, ...appended, ...above];
    const send = () => log.commit(`attempt-${(attempts += 1)}`, writes);
    const outcome = await send();
    if (outcome.status === "done") revision += events.length;
    return { outcome, again: send };
  }
  return { owner, store, commit, log };
}

/** A log that tells snapshot and entries together, as one does that is far away. */
function tellingTails(log: RunLog): RunLog {
  const tail: RunLog["tail"] = async (scope, runId, limit) => ({
    snapshot: undefined,
    rows: await log.read(scope, runId, 0, limit),
  });
  return { ...log, tail };
}

const taken: Write = appendWrite("default", "run-1", 2, "somebody else's");

describe("what an owner knows of its run", () => {
  it("WF-10 writes the registry only where the run moves, in the commit of the event", async () => {
    const { owner, store, commit } = await owned();
    const version = async () => (await store.runs.get("default", "run-1"))?.version;
    await commit([dropped]);
    expect(await version()).toBe(1);
    await commit([dropped, paused]);
    expect(owner.record).toMatchObject({ standing: { status: "interrupted" }, revision: 4 });
    expect(await version()).toBe(2);
    await commit([answered, paused]);
    expect(await version()).toBe(4);
    expect(owner.record.revision).toBe(6);
  });

  it("WF-10 forgets what was refused, and expects what really stands", async () => {
    const { owner, store, commit } = await owned();
    await store.log.commit("other", [{ ...taken, key: "run-2/000000000001" }]);
    const stale = { ...taken, key: "run-2/000000000001" };
    expect((await commit([paused], [stale])).outcome.status).toBe("refused");
    expect(owner.record).toMatchObject({ standing: { status: "running" }, revision: 1 });
    expect((await commit([dropped])).outcome.status).toBe("done");
    expect(owner.record).toMatchObject({ standing: { status: "running" }, revision: 2 });
    expect((await commit([paused])).outcome.status).toBe("done");
    expect(owner.record).toMatchObject({ standing: { status: "interrupted" }, revision: 3 });
    expect((await store.runs.get("default", "run-1"))?.values["status"]).toBe("interrupted");
  });

  it("WF-10 counts a refused commit that was sent again as it was", async () => {
    const { owner, store, commit } = await owned();
    const late = { ...taken, key: "run-2/000000000001", expect: 1 };
    const first = await commit([paused], [late]);
    expect(first.outcome.status).toBe("refused");
    await store.log.commit("other", [{ ...late, expect: 0 }]);
    expect((await first.again()).status).toBe("done");
    expect(owner.record).toMatchObject({ standing: { status: "interrupted" }, revision: 2 });
  });

  it("WF-10 counts no commit that holds none of its events", async () => {
    const { owner, store, commit } = await owned();
    await store.log.commit("other", [{ ...taken, key: "run-2/000000000001" }]);
    await commit([paused], [{ ...taken, key: "run-2/000000000001" }]);
    const beside = { ...taken, statement: "notes.put", key: "n", values: {} };
    expect((await commit([], [beside])).outcome.status).toBe("done");
    expect(owner.record).toMatchObject({ standing: { status: "running" }, revision: 1 });
  });

  it.each([{ tells: false }, { tells: true }])(
    "FLOW-75 WF-21 does nothing with a run whose log went on since it was read: %o",
    async (how) => {
      const { store, log } = await owned(how);
      const read = () => log.tail?.("default", "run-1", 10) ?? log.read("default", "run-1", 0, 10);
      expect(log.tail === undefined).toBe(!how.tells);
      await store.log.commit("own", [appendWrite("default", "run-1", 1, "its own")]);
      await expect(read()).resolves.toBeDefined();
      await store.log.commit("other", [taken]);
      await expect(read()).rejects.toMatchObject({ code: "run-moved", data: { runId: "run-1" } });
    },
  );

  it("FLOW-75 refuses the event with the row that somebody else moved", async () => {
    const { owner, store, commit } = await owned();
    const row = await store.runs.get("default", "run-1");
    const moved = { statement: "runs.put", scope: "default", key: "run-1", expect: 1 };
    await store.runs.commit("other", [{ ...moved, values: row!.values }]);
    expect((await commit([paused])).outcome.status).toBe("refused");
    expect(await store.log.head("default", "run-1")).toBe(0);
    expect(owner.record.standing.status).toBe("running");
  });
});
