/** After the chaos: what happened outside is what the journals say, flow by flow. */
import { DeferredApproval } from "@holdpoint/approvals";
import { FlowRunner, type RunEvent } from "@holdpoint/flow";
import type { PostgresStore } from "@holdpoint/postgres";
import { idempotencyKeyOf } from "@holdpoint/tools";
import { Workflows } from "@holdpoint/workflows";

import { Ledger, type Effect } from "../kill/ledger.ts";
import { keyring, orders, repeatable } from "./order.ts";

const scope = "default";

export interface Audited {
  readonly runs: number;
  readonly effects: number;
  /** Effects that came again under their key, of tools that may be repeated. */
  readonly repeated: number;
  /** Calls whose end a person said. */
  readonly doubts: number;
  readonly faults: readonly string[];
}

export async function audited(
  store: PostgresStore,
  { ledger: path, flows }: { readonly ledger: string; readonly flows: number },
): Promise<Audited> {
  const ledger = new Ledger<Effect>(path);
  const { flow, definition } = orders(ledger);
  const desk = new Workflows({ store, definitions: [definition], keyring });
  const port = new DeferredApproval(store.approvals, { keyring });
  const runner = new FlowRunner({ log: store.log, approvals: port, keyring });
  const byRun = grouped(ledger.all(), ({ runId }) => runId);
  const faults: string[] = [];
  const seen = new Set<string>();
  let [repeated, doubts] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await desk.list({ order: "oldest", limit: 200, ...(cursor && { cursor }) });
    for (const { runId, status, startKey } of page.items) {
      seen.add(String(startKey));
      const fault = (what: string): unknown => faults.push(`run ${runId} (${startKey}): ${what}`);
      if (status !== "completed") fault(`is ${status}`);
      const events = await runner.history(flow, runId);
      const effects = byRun.get(runId) ?? [];
      byRun.delete(runId);
      for (const what of differences(runId, events, effects)) fault(what);
      repeated += effects.length - new Set(effects.map(({ key }) => key)).size;
      doubts += events.filter(isVerdict).length;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (let number = 0; number < flows; number += 1)
    if (!seen.has(`o${number}`)) faults.push(`flow o${number} is not there`);
  if (seen.size !== flows) faults.push(`${seen.size} runs of ${flows} flows`);
  for (const runId of byRun.keys()) faults.push(`run ${runId} had effects, and is not there`);
  for (const state of ["pending", "decided"] as const) {
    const { items } = await port.records.list(scope, { filter: { state } });
    for (const { id } of items) faults.push(`approval ${id} is ${state}`);
  }
  return { runs: seen.size, effects: ledger.all().length, repeated, doubts, faults };
}

function grouped(
  effects: readonly Effect[],
  by: (effect: Effect) => string,
): Map<string, readonly Effect[]> {
  const groups = new Map<string, Effect[]>();
  for (const effect of effects) {
    const group = groups.get(by(effect));
    if (group === undefined) groups.set(by(effect), [effect]);
    else group.push(effect);
  }
  return groups;
}

function isVerdict(event: RunEvent): boolean {
  return event.type === "answered" && event.answers.some(({ kind }) => kind === "in-doubt");
}

/** What journal and world say differently. */
function* differences(
  runId: string,
  events: readonly RunEvent[],
  effects: readonly Effect[],
): Iterable<string> {
  const journaled = new Map<string, string>();
  const keyOf = (visit: string, call: { name: string; key: string; number: number }): string =>
    idempotencyKeyOf({ runId, node: visit, tool: call.name, key: call.key, number: call.number });
  const doubts = new Map<string, { readonly key: string; readonly tool: string }>();
  for (const event of events) {
    if (event.type === "call-finished")
      journaled.set(keyOf(event.visit, event.call), event.call.name);
    if (event.type === "in-doubt") {
      const { callId, started } = event.wait;
      doubts.set(callId, { key: keyOf(event.visit, started.id), tool: started.id.name });
    }
    if (event.type !== "answered") continue;
    for (const answer of event.answers) {
      const doubt = answer.kind === "in-doubt" ? doubts.get(answer.callId) : undefined;
      if (answer.kind === "in-doubt" && answer.verdict.is === "ran" && doubt !== undefined)
        journaled.set(doubt.key, doubt.tool);
    }
  }
  for (const tool of ["look_up", "pay", "mail"]) {
    const keys = [...journaled].filter(([, name]) => name === tool);
    if (keys.length !== 1) yield `its journal has '${tool}' ${keys.length} times`;
  }
  const byKey = grouped(effects, ({ key }) => key);
  for (const [key, acts] of byKey) {
    const { tool, args } = acts[0]!;
    if (!journaled.has(key)) yield `'${tool}' happened, and is in no journal`;
    if (acts.length > 1 && !repeatable.has(tool)) yield `'${tool}' happened ${acts.length} times`;
    if (acts.some((act) => act.args !== args)) yield `'${tool}' came again with other arguments`;
  }
  for (const [key, tool] of journaled)
    if (!byKey.has(key)) yield `'${tool}' is in the journal, and did not happen`;
}
