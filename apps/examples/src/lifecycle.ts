import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { unverified } from "@holdpoint/approvals";
import { defineInterrupt, flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { defineWorkflow, Supervisor } from "@holdpoint/workflows";
import { z } from "zod";

/** What the claims desk asks a customer for. */
const Evidence = defineInterrupt({
  name: "evidence",
  info: z.object({ claim: z.string() }),
  answer: z.object({ photo: z.url() }),
});

const Claim = z.object({ claim: z.string(), photo: z.string().optional() });

const claims = defineWorkflow({
  name: "claim",
  version: "1",
  input: z.object({ claim: z.string() }),
  resume: z.object({ photo: z.url() }),
  summarize: ({ claim }) => `${claim} is settled`,
  flow: flow("claim", Claim)
    .node("collect", async ({ claim }, ctx) => ctx.ask(Evidence, { claim }), { asks: [Evidence] })
    .build(),
});

const folder = mkdtempSync(join(tmpdir(), "holdpoint-"));
const keyring = keyringOf(crypto.getRandomValues(new Uint8Array(32)));

/** What a process does when it starts: the same file, and everything else anew. */
async function newProcess() {
  const store = openSqlite(join(folder, "desk.db"));
  const desk = new Supervisor({ store, definitions: [claims], session: "desk", keyring });
  await desk.activate();
  const end = async () => {
    await desk.shutdown();
    store.close();
  };
  return { desk, end };
}

// A run is on record before anything executes, and waits at its question.
const one = await newProcess();
const { runId } = await one.desk.start("claim", { claim: "C-7" }, { key: "request-7" });
console.log((await one.desk.settled(runId)).status);
const other = await one.desk.start("claim", { claim: "C-8" });
await one.desk.settled(other.runId);
await one.end();

// A process later: it still waits, and a payload is read strictly before anything sees it.
const two = await newProcess();
const waiting = await two.desk.get(runId);
console.log(waiting?.status, waiting?.waitsFor.map(({ tool }) => tool).join());
const wrong = await claims.validateResume('{ "photo": "none" }').catch((error) => error.code);
console.log(wrong);
const { document } = await claims.validateResume('{ "photo": "https://example.test/7.jpg" }');
const taken = await two.desk.resume(claims, runId, document, { by: unverified("rita") });
console.log(taken.status);
console.log((await two.desk.settled(runId)).summary);

// What nobody needs any more ends at once, and what waited in it is withdrawn.
console.log((await two.desk.cancel(other.runId, { reason: "asked twice" })).status);
console.log((await two.desk.get(other.runId))?.status);

// The history has no gap, and says what happened without what it was about.
const history = await two.desk.history(runId);
console.log(
  history.every(({ revision }, at) => revision === at + 1),
  history.length,
);
console.log(history.map(({ text }) => text).join("; "));
await two.end();
rmSync(folder, { recursive: true });
