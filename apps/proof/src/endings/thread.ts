// A thread that resumes a checkpoint which was posted to it, and says what came of it.
import { parentPort, workerData } from "node:worker_threads";

import { approve, unverified } from "@holdpoint/approvals";
import type { Checkpoint } from "@holdpoint/flow";
import { openSqlite } from "@holdpoint/sqlite";

import { errandOn } from "./errand.ts";

const { file, acts, checkpoint } = workerData as {
  readonly file: string;
  readonly acts: string;
  readonly checkpoint: Checkpoint;
};
const { errand, runner } = errandOn({ approvals: openSqlite(file).approvals, acts });
const said = await runner.resume(errand, checkpoint, approve({ by: unverified("dana") })).then(
  ({ status }) => status,
  (error: unknown) => String(Reflect.get(error as Error, "code")),
);
parentPort?.postMessage(said);
