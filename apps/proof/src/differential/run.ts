import {
  flowEdits,
  FlowRunner,
  isFlowError,
  memoryRunLog,
  replies,
  type Checkpoint,
  type FlowError,
  type FlowRunnerOptions,
  type RunResult,
} from "@holdpoint/flow";
import { memoryHome } from "@holdpoint/approvals";
import { canonicalize, createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { testClock, testIds } from "@holdpoint/testing";

import type { Block } from "./block.ts";
import { built, type Generated } from "./build.ts";
import { people, type Waits } from "./people.ts";
import { toolsOf } from "./tools.ts";
import { Trace } from "./trace.ts";

const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(5) },
  mac: nodeMac,
});

/** How a run is interrupted and gone on with. */
export interface Mode {
  readonly name: string;
  readonly waits: Waits;
  /** In memory, through the checkpoint's text in a fresh runner, or by its id from its log. */
  readonly through: "memory" | "text" | "log";
  readonly concurrency: number;
  /** Whether answers that are no decisions are there at once. */
  readonly inline: boolean;
  /** Which of the things that wait are answered together: all, or one in so many. */
  readonly answers: number;
  /** Its budget, of the run and those within it. */
  readonly rounds: number;
}

export interface Ran {
  readonly trace: Trace;
  readonly end: { readonly state: string } | Failed;
  readonly questions: number;
  readonly pauses: number;
}

export interface Failed {
  readonly code: string;
  /** The visits that failed, each with by what; none, where the run failed as a whole. */
  readonly failures: readonly { readonly node: string; readonly error: string }[];
}

/** More resumes than any of these flows has questions. */
const resumesMax = 500;

/** Runs of one flow are equal to the byte: each gets a scope of its own, or a process would take one's checkpoint for another's. */
let scopes = 0;

/** Runs a flow to its end. */
export async function ran(of: Block, mode: Mode): Promise<Ran> {
  const trace = new Trace();
  const scope = `scope-${(scopes += 1)}`;
  const tools = toolsOf(trace);
  const { flow, editable } = built(of, { tools, trace, inline: mode.inline });
  const port = people({
    keyring,
    scope,
    edits: flowEdits([flow], Object.values(tools)),
    editable,
    waits: mode.waits,
  });
  const clock = testClock();
  const options: FlowRunnerOptions = {
    approvals: port,
    keyring,
    scope,
    clock,
    ids: testIds(mode.concurrency),
    concurrency: mode.concurrency,
    roundsMax: mode.rounds,
    onEvent: (notice) => trace.follow(notice),
    ...(mode.through === "log" && { log: memoryRunLog(memoryHome({ clock })) }),
  };
  const fresh = () => new FlowRunner(options);
  let runner = fresh();
  let pauses = 0;
  try {
    let result: RunResult<Generated> = await runner.run(flow, { n: 1 }, { runId: "r" });
    while (result.status === "paused") {
      pauses += 1;
      if (pauses > resumesMax) throw new Error(`${mode.name} never ends`);
      const waits = result.pendings.filter(({ kind }) => kind !== "sleep");
      const chosen = waits.filter((_, index) => (index + pauses) % mode.answers === 0);
      const answered = chosen.length === 0 ? waits.slice(0, 1) : chosen;
      const reply = replies(
        Object.fromEntries(answered.map((pending) => [pending.id, port.replyTo(pending)])),
      );
      // Where only time is waited for, it passes: to the end of the first sleep.
      const ends = result.pendings.flatMap((pending) =>
        pending.kind === "sleep" ? [pending.until] : [],
      );
      if (waits.length === 0) clock.move(Math.min(...ends) - clock.now());
      let from: Checkpoint | string = result.checkpoint;
      if (mode.through !== "memory") {
        const text = runner.dumpCheckpoint(result.checkpoint);
        runner = fresh();
        from = mode.through === "log" ? "r" : runner.loadCheckpoint(flow, text);
      }
      result = await runner.resume(flow, from, waits.length === 0 ? undefined : reply);
    }
    return { trace, end: { state: canonicalize(result.state) }, questions: port.asked, pauses };
  } catch (error) {
    if (!isFlowError(error)) throw error;
    return { trace, end: failedBy(error), questions: port.asked, pauses };
  }
}

function failedBy({ code, data }: FlowError): Failed {
  const errors = (data["errors"] ?? []) as readonly NodeFailure[];
  const failures = errors.map(({ node, error }) => ({
    node,
    error: `${error.code}: ${error.message}`,
  }));
  return { code, failures };
}

interface NodeFailure {
  readonly node: string;
  readonly error: { readonly code?: string; readonly message: string };
}
