import {
  DeferredApproval,
  memoryApprovalStore,
  memoryHome,
  approve,
  identityPort,
  type ApprovalPort,
  type RecordState,
  type Write,
} from "@holdpoint/approvals";
import { sign, type Header, type Purpose } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  flow,
  FlowRunner,
  memoryRunLog,
  replies,
  type Checkpoint,
  type Flow,
  type Reply,
  type RunLog,
} from "../../src/index.ts";
import { checkpointCharsMax } from "../../src/limits.ts";
import { breakingStore } from "../support/breaking-store.ts";
import { effects } from "../support/effects.ts";
import { keyring, paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional() });

const sealedAs = (text: string): Checkpoint =>
  ({ sealed: new TextEncoder().encode(text) }) as unknown as Checkpoint;

/** What one resume is tried with. */
interface Attempt {
  text: (text: string) => string;
  purpose: Purpose;
  body: (text: string) => string;
  header: Record<string, unknown>;
  flow: Flow;
  runId: string;
  shown: number;
  reply: unknown;
  /** What the store says of the earlier answer. */
  story: RecordState | undefined;
  down: boolean;
}

/** A step of the checks, with a fault that only it meets. */
interface Fault {
  readonly name: string;
  readonly code: string;
  readonly break: (so: Attempt) => void;
}

/** One text for all that a seal does not cover (SEAL-28). */
const unsealed =
  "changed after it was sealed, or was sealed with another key or for another purpose";

/** Each step with a fault of its own, in the order of the checks. Every attempt has all faults from one step on. */
function faults(flows: { f: Flow; other: Flow; changed: Flow }, stranger: Reply): Fault[] {
  const { f, other, changed } = flows;
  return [
    {
      name: "size",
      code: "longer",
      break: (so) => (so.text = (text) => text.padEnd(checkpointCharsMax + 1)),
    },
    {
      name: "shape",
      code: unsealed,
      break: (so) => (so.text = (text) => text.slice(1)),
    },
    {
      name: "seal",
      code: unsealed,
      break: (so) => (so.text = (text) => text.replace('"mac":"', '"mac":"x')),
    },
    { name: "purpose", code: unsealed, break: (so) => (so.purpose = "log-entry") },
    { name: "version", code: "its format is 9", break: (so) => (so.header["format"] = 9) },
    { name: "flow", code: "belongs to the flow", break: (so) => (so.flow = other) },
    { name: "scope", code: "another scope", break: (so) => (so.header["scope"] = "elsewhere") },
    { name: "run", code: "was asked for", break: (so) => (so.runId = "q") },
    {
      name: "graph",
      code: "the graph of",
      break: (so) => so.flow === f && (so.flow = changed),
    },
    {
      name: "status",
      code: "it is completed",
      break: (so) => (so.header["phase"] = "completed"),
    },
    {
      name: "decode",
      code: "can't be built",
      break: (so) => (so.body = (text) => text.slice(1)),
    },
    { name: "inputs", code: "would show something else", break: (so) => (so.shown = 2) },
    { name: "answers by schema", code: "made by none of", break: (so) => (so.reply = "yes") },
    {
      name: "answers by rule",
      code: "names others to decide",
      break: (so) => (so.reply = stranger),
    },
    {
      name: "earlier answers",
      code: "does not say what this run went on with",
      break: (so) => (so.story = undefined),
    },
    { name: "commit", code: "refused", break: (so) => (so.down = true) },
  ];
}

/** A gate that waits beside a node that was answered once and waits again. */
async function waitingTwice() {
  const { log, gated, other: later } = effects();
  const people = identityPort((credential) => ({ id: String(credential) }));
  let shown = 1;
  const make = (name: string, gate: "look" | "see") =>
    flow(name, State)
      .node("start", () => ({}))
      .gate(gate, { payload: (s) => ({ n: s.n * shown }), approvers: ["dana"] })
      .node("pays", async (s, ctx) => {
        await ctx.call(gated, { n: s.n });
        return { sum: (await ctx.call(later, { n: s.n })).got };
      })
      .edge("start", gate)
      .edge("start", "pays")
      .build();
  const flows = { f: make("f", "look"), other: make("g", "look"), changed: make("f", "see") };
  const store = breakingStore();
  const { runner, count, port } = world({ store });
  const first = paused(await runner().run(flows.f, { n: 1 }, { runId: "r" }));
  const pays = first.pendings.find(({ path }) => path === "pays#1")!;
  const second = paused(
    await runner().resume(flows.f, first.checkpoint, replies({ [pays.id]: yes() })),
  );
  const gate = second.pendings.find(({ path }) => path === "look#1")!;
  return {
    flows,
    store,
    runner,
    count,
    port,
    log,
    second,
    by: async (who: string) =>
      replies({ [gate.id]: approve({ by: await people.authenticate(who) }) }),
    spent: pays.id,
    show: (factor: number) => void (shown = factor),
  };
}

/** A port that tells another story of one record. */
function telling(port: DeferredApproval, spent: string, story: RecordState): ApprovalPort {
  return {
    request: (request, how) => port.request(request, how),
    records: {
      store: port.records.store,
      settle: (how) => port.records.settle(how),
      withdraw: (how) => port.records.withdraw(how),
      conclude: (how) => port.records.conclude(how),
      read: async (scope, id) => (id === spent ? story : port.records.read(scope, id)),
    },
  };
}

describe("the order of a resume", () => {
  it("FLOW-61 meets the first of any faults, in the one order of the checks, and changes nothing before the commit", async () => {
    const { flows, store, runner, count, port, log, second, by, spent, show } =
      await waitingTwice();
    const { f } = flows;
    const {
      body,
      mac: _m,
      v: _v,
      kid: _k,
      purpose: _p,
      ...header
    } = JSON.parse(runner().dumpCheckpoint(second.checkpoint)) as Header & { body: string };
    const stands = await port.records.read("default", spent);
    if (stands?.state !== "consumed") throw new Error("it is not spent");
    const moved = await store.lastChange("default");
    const other: RecordState = { ...stands, decision: { ...stands.decision, at: 1 } };

    const steps = faults(flows, await by("eve"));
    const dana = await by("dana");
    for (const [index, step] of steps.entries()) {
      const so: Attempt = {
        text: (text) => text,
        purpose: "checkpoint",
        body: (text) => text,
        header: { ...header },
        flow: f,
        runId: "r",
        shown: 1,
        reply: dana,
        story: stands,
        down: false,
      };
      // The last fault first: of two that touch the same thing, the earlier step's stands.
      for (const later of steps.slice(index).toReversed()) later.break(so);
      show(so.shown);
      if (so.down) store.fail("down");
      const { purpose } = so;
      const sealed = sign(so.body(body), { keyring, purpose, header: so.header as Header }).text;
      const error = await rejection(
        runner({ approvals: telling(port, spent, so.story ?? other) }).resume(
          so.flow,
          sealedAs(so.text(sealed)),
          so.reply as never,
          { runId: so.runId },
        ),
      );
      expect(error.message, `${step.name}`).toContain(step.code);
      expect(await count("pending"), `${step.name}`).toBe(2);
      expect(await store.lastChange("default"), `${step.name}`).toBe(moved);
      expect(log, `${step.name}`).toEqual(["gated(1)"]);
      store.reset();
    }
    show(1);
    const third = paused(await runner().resume(f, second.checkpoint, dana));
    stateOf(await runner().resume(f, third.checkpoint, yes()));
  });
});

/** A gate in a durable run, whose process dies at its n-th commit after the pause. */
async function waitingDurably() {
  const home = memoryHome();
  const inner = memoryRunLog(home);
  const commits: { readonly attemptId: string; readonly writes: readonly Write[] }[] = [];
  let deathAt = Infinity;
  let died: () => void = () => undefined;
  const log: RunLog = {
    ...inner,
    commit: (attemptId, writes) => {
      if (commits.length + 1 >= deathAt) {
        died();
        return new Promise(() => undefined);
      }
      commits.push({ attemptId, writes });
      return inner.commit(attemptId, writes);
    },
  };
  const approvals = new DeferredApproval(memoryApprovalStore(home), { keyring });
  const { log: ran, gated, free } = effects();
  const f = flow("f", State)
    .node("a", async (s, ctx) => {
      await ctx.call(free, { n: s.n });
      return { sum: (await ctx.call(gated, { n: s.n })).got };
    })
    .build();
  const first = paused(
    await new FlowRunner({ approvals, keyring, log }).run(f, { n: 1 }, { runId: "r" }),
  );
  commits.length = 0;
  return {
    f,
    ran,
    commits,
    first,
    approvals,
    dying: () => new FlowRunner({ approvals, keyring, log }),
    /** Another process, over the same stores. */
    living: () => new FlowRunner({ approvals, keyring, log: inner }),
    dieAt: (number: number) => {
      deathAt = number;
      return new Promise<void>((resolve) => (died = resolve));
    },
  };
}

describe("the spending commit", () => {
  it("FLOW-61 settles, answers and sets the run running in one commit of data, under one attempt, before anything runs", async () => {
    const { f, ran, commits, first, approvals, dying, dieAt } = await waitingDurably();
    const dead = dieAt(2);
    void dying().resume(f, first.checkpoint, yes());
    await dead;
    expect(commits).toHaveLength(1);
    const { attemptId, writes } = commits[0]!;
    const names = writes.map(({ statement }) => statement).toSorted();
    expect(names).toEqual([
      "approvalAudit.append", // decided
      "approvalAudit.append", // consumed
      "approvals.put",
      "log.append",
    ]);
    expect(structuredClone(writes)).toEqual(writes); // no code among them
    expect(ran).toEqual(["free(1)"]);
    const record = await approvals.records.read("default", first.pending.id);
    expect(record).toMatchObject({ state: "consumed", attemptId });
  });

  it("FLOW-61 FLOW-77 leaves a run whose process dies before it as it was, and one whose process dies after it to adoption", async () => {
    const found: unknown[] = [];
    for (const number of [1, 2, 3, 4]) {
      const { f, ran, first, approvals, dying, living, dieAt } = await waitingDurably();
      const dead = dieAt(number);
      void dying().resume(f, first.checkpoint, yes());
      await dead;
      const record = await approvals.records.read("default", first.pending.id);
      const result = await living().adopt(f, "r");
      found.push([
        record?.state,
        result.status === "paused" ? result.pending.kind : result.state.sum,
        ran.join(" "),
      ]);
      if (number > 1) continue;
      stateOf(await living().resume(f, first.checkpoint, yes()));
      expect(ran).toEqual(["free(1)", "gated(1)"]);
    }
    expect(found).toEqual([
      ["pending", "approval", "free(1)"], // before the spending commit
      ["consumed", 10, "free(1) gated(1)"], // after it: before the call began,
      ["consumed", "in-doubt", "free(1) gated(1)"], // with the call's end not on record,
      ["consumed", 10, "free(1) gated(1)"], // with it on record
    ]);
  });
});
