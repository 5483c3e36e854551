import { createHmac, createSecretKey } from "node:crypto";

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
