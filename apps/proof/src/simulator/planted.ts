/**
 * Bugs that are put into a copy of the product: the simulator has to find each of them within so many worlds. One that it does
 * not find says that an invariant is not looked at.
 */
export interface PlantedBug {
  readonly name: string;
  /** From the repository's root. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "the store does not look at the version that a write expects",
    file: "packages/approvals/src/memory-home.ts",
    find: 'if (write.expect !== "any" && version !== write.expect)',
    put: "if (write.expect === 0 && version > 1_000_000)",
  },
  {
    name: "the store does not judge fences",
    file: "packages/approvals/src/memory-home.ts",
    find: "if (epoch > write.fence.epoch)",
    put: "if (epoch > write.fence.epoch + 1_000_000)",
  },
  {
    name: "a call runs before its settle stands",
    file: "packages/flow/src/run/spend.ts",
    find: "return standing(await live.commit({ attemptId, writes, events: [...first, ...events] }));",
    put: "return void live.commit({ attemptId, writes, events: [...first, ...events] }).then(standing).catch(() => undefined);",
  },
  {
    name: "a call that may not be repeated runs before its intent is on record",
    file: "packages/flow/src/run/calls.ts",
    find: "  return live.flush();\n}",
    put: "  void live.flush()?.catch(() => undefined);\n}",
  },
  {
    name: "adoption does not look into the journal",
    file: "packages/flow/src/run/journal.ts",
    find: "this.#entries = journal.map(",
    put: "this.#entries = journal.slice(0, 0).map(",
  },
  {
    name: "a call in doubt is run again",
    file: "packages/flow/src/run/calls.ts",
    find: "!(started.idempotent && tool.idempotent)",
    put: "!tool",
  },
  {
    name: "an unknown outcome is asked for under another attempt id",
    file: "packages/flow/src/run/commit.ts",
    find: "const outcome = await store.commit(attemptId, writes);",
    put: "const outcome = await store.commit(`${attemptId}.${tries}`, writes);",
  },
  {
    name: "a run goes on behind an append that failed",
    file: "packages/flow/src/run/live.ts",
    find: "this.#lost = { by: error };",
    put: "",
  },
  {
    name: "a recovery spends whatever decision it finds under the announced attempt",
    file: "packages/flow/src/run/recover.ts",
    find: " || !isSame(plan.decision, answer.decision, live.parts.sealer)",
    put: "",
  },
  {
    name: "what was answered at once is on no record",
    file: "packages/flow/src/run/spend.ts",
    find: "asked === undefined || !live.durable ? [] : [asked]",
    put: "[]",
  },
  {
    name: "a decision is acknowledged before it is on record",
    file: "packages/approvals/src/deciding.ts",
    find: 'if (committed.status === "refused") {',
    put: 'if (committed.status as string === "nothing") {',
  },
  {
    name: "edited arguments are forgotten when the call runs",
    file: "packages/tools/src/pipeline/ask-person.ts",
    find: "if (approved && isEdited) call.args = edited.arguments;",
    put: "",
  },
  {
    name: "the idempotency key holds what no re-run repeats",
    file: "packages/tools/src/call-identity.ts",
    find: 'return digestOf(["effect", call.runId,',
    put: 'return digestOf(["effect", performance.now(), call.runId,',
  },
  {
    name: "the registry moves in a commit of its own",
    file: "packages/workflows/src/run/owner.ts",
    find: "this.#together = parts.log.home === parts.access.registry.home;",
    put: "this.#together = false;",
  },
];
