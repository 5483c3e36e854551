import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeSync } from "node:fs";

import { DeferredApproval } from "@holdpoint/approvals";
import { FlowRunner } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { openSqlite } from "@holdpoint/sqlite";
import { crashAt, struckHandle, type CrashMoment, type Strike } from "@holdpoint/testing";
import { Workflows } from "@holdpoint/workflows";

import { claims } from "./claim.ts";
import { EffectLedger } from "./ledger.ts";
import { overheard, writePointsOf } from "./write-points.ts";

/** Whether approvals, logs and runs are one file or three. */
export type Layout = "together" | "apart";

/** Where a process is killed. */
export type KillPoint =
  | { readonly commit: number; readonly moment: CrashMoment }
  | { readonly effect: number; readonly moment: CrashMoment }
  | { readonly sealing: number };

/** What a process says of itself: each line is written before anything else happens. */
export type Told =
  | { readonly told: "commit"; readonly number: number; readonly points: readonly string[] }
  | { readonly told: "effect"; readonly number: number; readonly tool: string }
  | { readonly told: "sealing"; readonly number: number }
  | { readonly told: "started"; readonly runId: string }
  | { readonly told: "decided"; readonly approvalId: string }
  | { readonly told: "verdict"; readonly key: string; readonly verdict: unknown };

export function tell(line: Told): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

const never: Strike = { before: () => undefined, after: () => undefined };

/** The stores of a folder, opened by a process that may be killed at a point once it is armed. */
export function worldIn(folder: string, layout: Layout) {
  let strike: Strike = never;
  let armed: KillPoint | undefined;
  let telling = false;
  const counts = { commits: 0, effects: 0, sealings: 0 };

  const open = (name: string) => {
    const handle = new DatabaseSync(join(folder, layout === "together" ? "all.db" : name));
    const through: Strike = {
      before: (sql) => strike.before(sql),
      after: (sql) => strike.after(sql),
    };
    return openSqlite(struckHandle(handle, through));
  };
  const hear = (writes: Parameters<typeof writePointsOf>[0]): void => {
    counts.commits += 1;
    if (telling)
      tell({ told: "commit", number: counts.commits, points: writePointsOf(writes, keyring) });
  };
  const first = open("approvals.db");
  const second = layout === "together" ? first : open("log.db");
  const third = layout === "together" ? first : open("runs.db");
  const store = {
    approvals: overheard(first.approvals, hear),
    log: overheard(second.log, hear),
    runs: overheard(third.runs, hear),
  };

  const ledger = new EffectLedger(join(folder, "effects.jsonl"));
  const parts = claims({
    effect(tool, args, { idempotencyKey: key, runId }) {
      counts.effects += 1;
      if (telling) tell({ told: "effect", number: counts.effects, tool });
      const here = armed !== undefined && "effect" in armed && armed.effect === counts.effects;
      const moment = here && "moment" in armed! ? armed.moment : undefined;
      if (moment === "before") die();
      ledger.add({ tool, key, runId, args: JSON.stringify(args) });
      if (moment === "inside") die();
      if (moment === "after") queueMicrotask(die);
    },
    sealing() {
      counts.sealings += 1;
      if (telling) tell({ told: "sealing", number: counts.sealings });
      if (armed !== undefined && "sealing" in armed && armed.sealing === counts.sealings) die();
    },
  });
  const { definition, codecs, edits } = parts;
  const approvals = new DeferredApproval(store.approvals, { keyring, edits });
  return {
    ...parts,
    ledger,
    store,
    records: approvals.records,
    desk: new Workflows({ store, definitions: [definition], keyring, codecs, edits }),
    runner: new FlowRunner({ log: store.log, approvals, keyring, codecs }),
    /** Counts from here on, and tells; with a point, dies there. */
    arm(point?: KillPoint) {
      telling = true;
      armed = point;
      Object.assign(counts, { commits: 0, effects: 0, sealings: 0 });
      strike = point !== undefined && "commit" in point ? crashAt(point, die) : never;
    },
    disarm() {
      telling = false;
      armed = undefined;
      strike = never;
    },
  };
}

export type World = ReturnType<typeof worldIn>;
