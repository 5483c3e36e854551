import type { Flow, FlowRunner, Reply, RunResult } from "../../src/index.ts";
import { replies } from "../../src/index.ts";
import type { Decision } from "@holdpoint/approvals";

import { yes } from "./world.ts";

/** Answers some of what waits, again and again, each time through a text and a fresh runner, until the run has ended. */
export async function carried<F extends Flow>(
  f: F,
  result: RunResult<F>,
  runner: () => FlowRunner,
  how: {
    /** Which of the waiting things are answered at the n-th pause; by default the first. */
    readonly pick?: (waiting: number, pause: number) => readonly number[];
    readonly decision?: (path: string) => Decision;
    /** Hears each checkpoint's text. */
    readonly text?: (text: string) => void;
  } = {},
): Promise<{ readonly state: Record<string, unknown>; readonly pauses: number }> {
  const { pick = () => [0], decision = yes, text } = how;
  let pauses = 0;
  let now: RunResult = result;
  while (now.status === "paused") {
    const dumped = runner().dumpCheckpoint(now.checkpoint);
    text?.(dumped);
    const { pendings } = now;
    const chosen = pick(pendings.length, pauses).map((index) => pendings[index % pendings.length]!);
    const reply: Reply = replies(
      Object.fromEntries(chosen.map(({ id, path }) => [id, decision(path)])),
    );
    const next = runner();
    now = await next.resume(f, next.loadCheckpoint(f, dumped), reply);
    pauses += 1;
  }
  return { state: now.state as Record<string, unknown>, pauses };
}
