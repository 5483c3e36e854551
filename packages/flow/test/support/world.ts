import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  unverified,
  type ApprovalPort,
  type ApprovalRequest,
  type ApprovalStore,
  type EditPort,
  type PortAnswer,
} from "@holdpoint/approvals";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

import {
  FlowRunner,
  type FlowRunnerOptions,
  type Logger,
  type RunNotice,
  type RunResult,
} from "../../src/index.ts";

/** With the platform's own MAC: these tests seal tens of thousands of records. */
export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});
export const dana = unverified("dana");
export const yes = () => approve({ by: dana });
export const no = (note?: string) => deny({ by: dana, ...(note !== undefined && { note }) });

/** A paused result, whatever waits, or a failed test. */
export function waiting<F>(result: RunResult<F>) {
  if (result.status !== "paused") throw new Error(`the run is ${result.status}, not paused`);
  return result;
}

/** A result that waits for approvals alone, or a failed test. */
export function paused<F>(result: RunResult<F>) {
  const { pendings, ...rest } = waiting(result);
  const approvals = pendings.filter((pending) => pending.kind === "approval");
  if (approvals.length < pendings.length) throw new Error("something else waits than approvals");
  return { ...rest, pending: approvals[0]!, pendings: approvals };
}

/** A completed result's state, or a failed test. */
export function stateOf<F>(result: RunResult<F>) {
  if (result.status !== "completed") throw new Error(`the run is ${result.status}, not completed`);
  return result.state;
}

/** What a promise rejects with. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; data?: Record<string, unknown> }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not reject");
}

/** Makes this process forget what it resumed, as another process never knew it. */
export function asAnotherProcess(): void {
  const home = globalThis as { [place: symbol]: Map<string, unknown> | undefined };
  home[Symbol.for("@holdpoint/flow.spent")]?.clear();
}

/** A logger that keeps what it is told. */
export function keepingLogger(): Logger & { readonly lines: { message: string; facts: object }[] } {
  const lines: { message: string; facts: object }[] = [];
  const keep = (message: string, facts: object) => void lines.push({ message, facts });
  return { lines, warn: keep, error: keep };
}

export interface World {
  readonly store: ApprovalStore;
  readonly port: DeferredApproval;
  readonly notices: RunNotice[];
  readonly logged: ReturnType<typeof keepingLogger>["lines"];
  /** A fresh runner over the same store. */
  readonly runner: (more?: FlowRunnerOptions) => FlowRunner;
  /** How many records are in a state. */
  readonly count: (state: "pending" | "decided" | "consumed") => Promise<number>;
  /** Outcomes of the consumed records. */
  readonly outcomes: () => Promise<string[]>;
}

/** Runners over one approval store in memory. */
export function world(
  options: FlowRunnerOptions & { edits?: EditPort; store?: ApprovalStore } = {},
): World {
  const { edits, store = memoryApprovalStore(), ...rest } = options;
  const port = new DeferredApproval(store, { keyring, ...(edits !== undefined && { edits }) });
  const notices: RunNotice[] = [];
  const logger = keepingLogger();
  const records = async () => (await port.records.list("default", { limit: 100 })).items;
  return {
    store,
    port,
    notices,
    logged: logger.lines,
    runner: (more) =>
      new FlowRunner({
        approvals: port,
        keyring,
        logger,
        onEvent: (notice) => notices.push(notice),
        ...rest,
        ...more,
      }),
    count: async (state) => (await records()).filter((record) => record.state === state).length,
    async outcomes() {
      const ids = (await records()).map((record) => record.id);
      const states = await Promise.all(ids.map((id) => port.records.read("default", id)));
      return states.flatMap((state) =>
        state?.state === "consumed" ? [String(state.outcome)] : [],
      );
    },
  };
}

/** A port without records: answers pending, and keeps what it was asked. */
export function recordlessPort(answer?: (request: ApprovalRequest) => PortAnswer): ApprovalPort & {
  readonly requests: ApprovalRequest[];
} {
  const requests: ApprovalRequest[] = [];
  return {
    requests,
    async request(request, how) {
      const said = answer?.(request);
      if (said === undefined) await how.prepare();
      requests.push(request);
      if (said !== undefined) return said;
      return { status: "pending", approvalId: `ask-${requests.length}` };
    },
  };
}
