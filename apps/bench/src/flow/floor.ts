import { createHmac, createSecretKey } from "node:crypto";

import { z } from "zod";

import type { Adapter } from "./workloads.ts";

/**
 * The floor: a program written for the one workload, that makes the same calls, seals one entry an event where the run
 * pauses, and does nothing else.
 */
const key = createSecretKey(new Uint8Array(32).fill(7));
const macOf = (text: string): string => createHmac("sha256", key).update(text).digest("base64url");

function sealed(value: unknown): string {
  const body = JSON.stringify(value);
  return JSON.stringify({ v: 1, body, mac: macOf(body) });
}

function opened<T>(text: string): T {
  const envelope = JSON.parse(text) as { body: string; mac: string };
  if (macOf(envelope.body) !== envelope.mac) throw new Error("tampered");
  return JSON.parse(envelope.body) as T;
}

export const floor: Adapter = {
  name: "floor",
  linear(nodes) {
    const steps = Array.from({ length: nodes }, () => async (state: { n: number }) => ({
      n: state.n + 1,
    }));
    return async () => {
      let state = { n: 0 };
      for (const step of steps) state = { ...state, ...(await step(state)) };
      return state.n;
    };
  },
  approval({ state, execute }) {
    const prepare = async (s: { amount: number }) => ({ amount: s.amount + 1 });
    const act = async (call: { id: string; amount: number }) => execute(call);
    return async () => {
      const log: string[] = [];
      const append = (type: string, data: object): void =>
        void log.push(sealed({ rev: log.length + 1, type, ...data }));
      append("run-started", { state });
      append("visit-started", { visit: "prepare#1" });
      const prepared = { ...state, ...(await prepare(state)) };
      append("visit-finished", { visit: "prepare#1", update: { amount: prepared.amount } });
      append("routed", { next: ["act"] });
      append("visit-started", { visit: "act#1" });
      append("approval-requested", {
        visit: "act#1",
        args: { id: prepared.id, amount: prepared.amount },
      });
      append("paused", {});
      const text = sealed({
        revision: log.length,
        state: prepared,
        pending: { tool: "act", args: { id: prepared.id, amount: prepared.amount } },
      });
      const back = opened<{
        state: typeof prepared;
        pending: { args: { id: string; amount: number } };
      }>(text);
      append("answered", { by: "dana" });
      const result = await act(back.pending.args);
      append("call-finished", { result });
      append("visit-finished", { visit: "act#1", update: result });
      append("completed", {});
      return { ...back.state, ...result }.ok;
    };
  },
  results({ results, fetch }) {
    return async () => {
      const journal: unknown[] = [];
      for (let n = 0; n < results; n++) journal.push({ call: "fetch", n, result: await fetch(n) });
      const text = sealed({ journal, pending: { tool: "finish", args: { n: results } } });
      const back = opened<{ journal: unknown[] }>(text);
      if (back.journal.length !== results) throw new Error("a result is lost");
      return text.length;
    };
  },
  map({ items, concurrency, act }) {
    return async () => {
      const values: number[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < items; index = next++) values[index] = await act(index);
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      const text = sealed({ values, pending: { tool: "finish", args: { n: items } } });
      if (opened<{ values: number[] }>(text).values.length !== items) throw new Error("lost");
      return text.length;
    };
  },
};

const Call = z.object({ n: z.int() });
const Rows = z.object({ rows: z.array(z.object({ id: z.int(), text: z.string() })) });

/**
 * The floor of a run whose calls are all on record one by one: arguments and results are parsed, and each event is sealed and
 * chained when it happens, as for B2. At the pause nothing is left to be written but where the run stands.
 */
function chained(): { event(type: string, data: object): void; open(): Record<string, unknown>[] } {
  const log: string[] = [];
  return {
    event: (type, data) =>
      void log.push(
        sealed({ rev: log.length + 1, prev: log.at(-1)?.slice(-45, -2), type, ...data }),
      ),
    open: () => log.map((text) => opened<Record<string, unknown>>(text)),
  };
}

export const loggingFloor: Adapter = {
  ...floor,
  name: "floor, an entry an event",
  results({ results, fetch }) {
    return async () => {
      const log = chained();
      log.event("visit-started", { visit: "collect#1" });
      for (let n = 0; n < results; n++) {
        const result = Rows.parse(await fetch(Call.parse({ n }).n));
        log.event("call-finished", { visit: "collect#1", call: "fetch", n, result });
      }
      log.event("paused", { tool: "finish", args: { n: results } });
      const events = log.open();
      if (events.length !== results + 2) throw new Error("a result is lost");
      return events.length;
    };
  },
  map({ items, concurrency, act }) {
    return async () => {
      const log = chained();
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < items; index = next++) {
          const visit = `each#1[${index}]`;
          const result = Call.parse({ n: await act(Call.parse({ n: index }).n) });
          log.event("call-finished", { visit, call: "act", result });
          log.event("item-finished", { visit, value: result });
        }
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      log.event("paused", { tool: "finish", args: { n: items } });
      const events = log.open();
      if (events.length !== 2 * items + 1) throw new Error("lost");
      return events.length;
    };
  },
};
