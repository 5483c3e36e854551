import { createHmac, createSecretKey } from "node:crypto";

import { workloads, type ApprovalWork } from "../flow/workloads.ts";
import type { Bed, Rows } from "./stores.ts";

/**
 * The floor: a program written for the one workload, on tables of its own. It makes the same calls, seals and chains one entry
 * an event, and commits where something has to be durable before something else happens: the start, each node's or call's
 * end, the question, the answer, the end.
 */
const key = createSecretKey(new Uint8Array(32).fill(7));
const macOf = (text: string): string => createHmac("sha256", key).update(text).digest("base64url");

/** One run's log, written by hand. */
class Log {
  readonly #run: string;
  #rev = 0;
  #mac = "";
  #rows: (readonly [string, number, string])[] = [];

  constructor(run: string) {
    this.#run = run;
  }

  event(type: string, data: object = {}): void {
    this.#rev += 1;
    const body = JSON.stringify({ rev: this.#rev, prev: this.#mac, type, ...data });
    this.#mac = macOf(body);
    this.#rows.push([this.#run, this.#rev, JSON.stringify({ v: 1, body, mac: this.#mac })]);
  }

  /** What goes into the next commit. */
  take(): Rows["log"] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** What was written, believed where it holds together. */
  static opened(texts: readonly string[]): Record<string, unknown>[] {
    let prev = "";
    return texts.map((text) => {
      const { body, mac } = JSON.parse(text) as { body: string; mac: string };
      const event = JSON.parse(body) as Record<string, unknown>;
      if (macOf(body) !== mac || event["prev"] !== prev) throw new Error("tampered");
      prev = mac;
      return event;
    });
  }
}

let runs = 0;
const newRun = (): string => `floor-${process.pid}-${++runs}`;

const sealed = (value: object): string => {
  const body = JSON.stringify(value);
  return JSON.stringify({ v: 1, body, mac: macOf(body) });
};

export function linear(bed: Bed): () => Promise<unknown> {
  const { nodes } = workloads.B1;
  const steps = Array.from({ length: nodes }, () => async (state: { n: number }) => ({
    n: state.n + 1,
  }));
  return async () => {
    const log = new Log(newRun());
    let state = { n: 0 };
    log.event("run-started", { state });
    await bed.commit({ log: log.take() });
    for (const [index, step] of steps.entries()) {
      const visit = `n${index}#1`;
      log.event("visit-started", { visit });
      const update = await step(state);
      state = { ...state, ...update };
      log.event("visit-finished", { visit, update });
      log.event("routed", { next: [`n${index + 1}`] });
      await bed.commit({ log: log.take() });
    }
    log.event("completed");
    await bed.commit({ log: log.take() });
    return state.n;
  };
}

export function approval(
  bed: Bed,
  { state, execute, decided }: ApprovalWork = workloads.B2,
): () => Promise<unknown> {
  return async () => {
    const run = newRun();
    const log = new Log(run);
    log.event("run-started", { state });
    await bed.commit({ log: log.take() });
    log.event("visit-started", { visit: "prepare#1" });
    const args = { id: state.id, amount: state.amount + 1 };
    log.event("visit-finished", { visit: "prepare#1", update: { amount: args.amount } });
    log.event("routed", { next: ["act"] });
    await bed.commit({ log: log.take() });
    log.event("visit-started", { visit: "act#1", args });
    log.event("approval-requested", { visit: "act#1", args });
    log.event("paused");
    const record = { id: run, tool: "act", args, state: "pending" };
    await bed.commit({ log: log.take(), record: [run, sealed(record)] });

    decided?.();
    const events = Log.opened(await bed.read(run));
    const asked = events.find(({ type }) => type === "approval-requested")!["args"] as typeof args;
    log.event("answered", { by: "dana" });
    log.event("call-started", { args: asked });
    const consumed = { ...record, state: "consumed", by: "dana" };
    await bed.commit({ log: log.take(), record: [run, sealed(consumed)] });
    const result = execute(asked);
    log.event("call-finished", { result });
    const done = { ...consumed, outcome: "executed" };
    await bed.commit({ log: log.take(), record: [run, sealed(done)] });
    log.event("visit-finished", { visit: "act#1", update: result });
    log.event("routed", { next: [] });
    log.event("completed");
    await bed.commit({ log: log.take() });
    return result.ok;
  };
}

export function results(bed: Bed): () => Promise<unknown> {
  const { results: count, fetch } = workloads.B5;
  return async () => {
    const run = newRun();
    const log = new Log(run);
    log.event("run-started", { n: 0 });
    log.event("visit-started", { visit: "collect#1" });
    await bed.commit({ log: log.take() });
    for (let n = 0; n < count; n++) {
      log.event("call-finished", { call: "fetch", n, result: await fetch(n) });
      await bed.commit({ log: log.take() });
    }
    log.event("approval-requested", { args: { n: count } });
    log.event("paused");
    const record = { id: run, tool: "finish", args: { n: count }, state: "pending" };
    await bed.commit({ log: log.take(), record: [run, sealed(record)] });

    const events = Log.opened(await bed.read(run));
    if (events.filter(({ type }) => type === "call-finished").length !== count)
      throw new Error("a result is lost");
    log.event("answered", { by: "dana" });
    log.event("call-started", { args: { n: count } });
    const consumed = { ...record, state: "consumed", by: "dana" };
    await bed.commit({ log: log.take(), record: [run, sealed(consumed)] });
    log.event("call-finished", { result: { n: count } });
    const done = { ...consumed, outcome: "executed" };
    await bed.commit({ log: log.take(), record: [run, sealed(done)] });
    log.event("visit-finished", { visit: "collect#1" });
    log.event("routed", { next: [] });
    log.event("completed");
    await bed.commit({ log: log.take() });
    return count;
  };
}

export function turns(bed: Bed): () => Promise<unknown> {
  const { results: count, fetch } = workloads.B5;
  return async () => {
    const log = new Log(newRun());
    const said: unknown[] = [];
    log.event("run-started", { n: 0 });
    await bed.commit({ log: log.take() });
    for (let n = 0; n < count; n++) {
      log.event("visit-started", { visit: `turn#${n}` });
      const result = await fetch(n);
      said.push(result);
      log.event("visit-finished", { visit: `turn#${n}`, adds: result });
      log.event("routed", { next: ["turn"] });
      await bed.commit({ log: log.take() });
    }
    log.event("completed");
    await bed.commit({ log: log.take() });
    return said.length;
  };
}
