import { writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { DeferredApproval, type Write } from "@holdpoint/approvals";
import { FlowRunner } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { openSqlite } from "@holdpoint/sqlite";
import { struckHandle } from "@holdpoint/testing";
import { Workflows } from "@holdpoint/workflows";

import { claims } from "./claim.ts";
import { Dying, type Told } from "./dying.ts";
import { EffectLedger } from "./ledger.ts";
import { overheard, writePointsOf } from "./write-points.ts";

/** Whether approvals, logs and runs are one file or three. */
export type Layout = "together" | "apart";

/** Says a line to whoever started this process, at once. */
export function tell(line: Told): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});

/** The stores of a folder, and what runs over them, in a process that may die at a point or meet a fault. */
export function worldIn(folder: string, layout: Layout, say: (line: Told) => void = tell) {
  const dying = new Dying(say);
  const open = (name: string) => {
    const handle = new DatabaseSync(join(folder, layout === "together" ? "all.db" : name));
    const strike = {
      before: (sql: string) => dying.strike.before(sql),
      after: (sql: string) => dying.strike.after(sql),
    };
    return openSqlite(struckHandle(handle, strike));
  };
  const hear = (writes: readonly Write[]): void =>
    dying.commit(writes, (of) => writePointsOf(of, keyring));
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
    effect: (tool, args, { idempotencyKey: key, runId }) =>
      dying.effect(tool, () => ledger.add({ tool, key, runId, args: JSON.stringify(args) })),
    sealing: () => dying.sealing(),
  });
  const { definition, codecs, edits } = parts;
  const approvals = new DeferredApproval(store.approvals, { keyring, edits });
  return {
    ...parts,
    dying,
    ledger,
    store,
    records: approvals.records,
    desk: new Workflows({ store, definitions: [definition], keyring, codecs, edits }),
    runner: new FlowRunner({ log: store.log, approvals, keyring, codecs }),
    close: () => new Set([first, second, third]).forEach((each) => each.close()),
  };
}

export type World = ReturnType<typeof worldIn>;
