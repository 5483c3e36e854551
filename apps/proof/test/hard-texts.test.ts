// Texts that databases can't all hold as they are, wherever a run keeps a text: they come back unit by unit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  approve,
  DeferredApproval,
  deny,
  memoryApprovalStore,
  memoryHome,
  unverified,
} from "@holdpoint/approvals";
import type { ApprovalStore } from "@holdpoint/approvals";
import { flow, FlowRunner, isFlowError, memoryRunLog, replies } from "@holdpoint/flow";
import type { RunLog } from "@holdpoint/flow";
import { openPostgres } from "@holdpoint/postgres";
import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { defineTool } from "@holdpoint/tools";
import { afterAll, expect, inject, it } from "vitest";
import { z } from "zod";

import type {} from "../../../scripts/postgres/global-setup.ts";

interface Opened {
  readonly approvals: ApprovalStore;
  readonly log: RunLog;
  close(): unknown;
}

const folder = mkdtempSync(join(tmpdir(), "holdpoint-hard-texts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const home = memoryHome();
const schema = `hard_texts_${process.pid}`;

const stores: readonly (readonly [string, () => Opened | Promise<Opened>])[] = [
  [
    "memory",
    () => ({
      approvals: memoryApprovalStore(home),
      log: memoryRunLog(home),
      close: () => undefined,
    }),
  ],
  ["SQLite", () => openSqlite(join(folder, "runs.db"))],
  ["Postgres", () => openPostgres(inject("postgresUrl"), { schema })],
];

const texts: readonly (readonly [string, string])[] = [
  ["U+0000", "a\0b\0"],
  ["a lone high surrogate", "a\ud800b"],
  ["a lone low surrogate at the end", "a\udfff"],
  ["surrogates the wrong way round", "\udc00\ud800"],
  ["a byte order mark, and U+FFFE", "\ufeffa\ufffe\uffff"],
  ["what looks like a tag", '{"$utf16":"AAA"}'],
  ["escapes as letters", String.raw`\u0000\ud800\\`],
  ["composed and decomposed", "\u00e9 e\u0301 \u212b"],
  ["line ends of all kinds", "\r\n\u2028\u2029\u0085\v"],
];

const keyring = keyringOf(new Uint8Array(32).fill(7));
const Text = z.object({ text: z.string() });
const State = z.object({
  text: z.string(),
  echoed: z.string().optional(),
  failure: z.string().optional(),
  note: z.string().optional(),
});

const message = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (isFlowError(error, "approval-denied")) return error.data["note"];
    if (error instanceof Error) return error.message;
    throw error;
  }
};

/** A flow that keeps its text everywhere: state, gate, arguments, result, failure, denial. */
function kept(received: string[]) {
  const shared = { description: "", input: Text, output: Text };
  const echo = defineTool({
    ...shared,
    name: "echo",
    confirm: true,
    execute: ({ text }) => {
      received.push(text);
      return { text };
    },
  });
  const fail = defineTool({
    ...shared,
    name: "fail",
    execute: ({ text }) => {
      throw new Error(text);
    },
  });
  const refuse = defineTool({ ...shared, name: "refuse", confirm: true, execute: (of) => of });
  return flow("kept", State)
    .gate("review", { payload: ({ text }) => ({ text }) })
    .node("work", async ({ text }, ctx) => {
      const echoed = await ctx.call(echo, { text });
      const failure = String(await message(ctx.call(fail, { text })));
      const note = String(await message(ctx.call(refuse, { text })));
      return { echoed: echoed.text, failure, note };
    })
    .path("review", "work")
    .build();
}

it.each(
  stores.flatMap(([store, open]) => texts.map((text) => [text[0], store, text[1], open] as const)),
)(
  "R041 STORE-08 keeps %s as it is in state, arguments, results, failures and reasons, through %s",
  async (name, _, text, open) => {
    const received: string[] = [];
    const built = kept(received);
    const runId = name.replaceAll(/[^A-Za-z0-9]+/g, "-");
    /** As the next process does it: nothing is remembered but what is on record. */
    const next = async <T>(step: (runner: FlowRunner) => Promise<T>): Promise<T> => {
      const store = await open();
      const approvals = new DeferredApproval(store.approvals, { keyring });
      try {
        return await step(new FlowRunner({ approvals, log: store.log, keyring }));
      } finally {
        await store.close();
      }
    };
    let at = await next((runner) => runner.run(built, { text }, { runId }));
    const answers = [
      approve({ by: unverified("dana"), note: text }),
      approve({ by: unverified("dana") }),
    ];
    for (const answer of [...answers, deny({ by: unverified("dana"), note: text })]) {
      if (at.status !== "paused" || at.pending.kind !== "approval") throw new Error(at.status);
      expect(at.pending.request.arguments).toEqual({ text });
      const { id } = at.pending;
      at = await next((runner) => runner.resume(built, runId, replies({ [id]: answer })));
    }
    const state = { text, echoed: text, failure: text, note: text };
    expect(at).toMatchObject({ status: "completed", state });
    expect(received).toEqual([text]);
    const again = await next((runner) => runner.adopt(built, runId));
    expect(again).toMatchObject({ status: "completed", state });
  },
);
