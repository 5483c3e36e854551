/** A change of a source that takes a promise away, and the tests that have to see it. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Found exactly once in the file. */
  readonly find: string;
  readonly put: string;
  /** The vitest project, and which of its test files. */
  readonly project: string;
  readonly tests: string;
  /** Whether it is one of the quick form. */
  readonly quick?: true;
}

export const mutants: readonly Mutant[] = [
  {
    name: "compare-and-set without the version in its WHERE",
    file: "packages/sqlite/src/judging.ts",
    find: '"rowVersion = :expect", ',
    put: "",
    project: "sqlite",
    tests: "contract",
    quick: true,
  },
  {
    name: "a fence that is not in the statement",
    file: "packages/sqlite/src/judging.ts",
    find: "AND held.epoch > :fencedBelow",
    put: "AND held.epoch > :fencedBelow AND 1 = 0",
    project: "sqlite",
    tests: "contract",
  },
  {
    name: "a time limit that is not in the statement",
    file: "packages/sqlite/src/judging.ts",
    find: '":now < :before"',
    put: '":now > 0 AND :before > 0"',
    project: "sqlite",
    tests: "contract",
  },
  {
    name: "a deferred transaction",
    file: "packages/sqlite/src/home.ts",
    find: 'this.#handle.exec("BEGIN IMMEDIATE");',
    put: 'this.#handle.exec("BEGIN");',
    project: "sqlite",
    tests: "faults",
  },
  {
    name: "a commit that is told before its sync",
    file: "packages/sqlite/src/opening.ts",
    find: 'handle.exec("PRAGMA synchronous = FULL");',
    put: 'handle.exec("PRAGMA synchronous = OFF");',
    project: "sqlite",
    tests: "opening",
  },
  {
    name: "an attempt that does not know its own commit",
    file: "packages/sqlite/src/judging.ts",
    find: "if (stands?.attempt !== attemptId) return false;",
    put: "if (stands?.attempt !== `${attemptId} `) return false;",
    project: "sqlite",
    tests: "contract",
  },
  {
    name: "a removal of what has moved on",
    file: "packages/sqlite/src/removing.ts",
    find: 'if (stands !== undefined && Number(stands["rowVersion"]) !== version) return false;',
    put: "if (stands === undefined && version < 0) return false;",
    project: "sqlite",
    tests: "removal",
  },
  {
    name: "an approval consumed in a commit of its own",
    file: "packages/flow/src/run/spend.ts",
    find: "return standing(await live.commit({ attemptId, writes, events: [...first, ...events] })); // P2",
    put: `if (records !== undefined && writes.length > 0)
      await standing(await commitKnown(records.store, attemptId, writes));
    return standing(await live.commit({ attemptId, writes: [], events: [...first, ...events] }));`,
    project: "workflows",
    tests: "run/crash",
    quick: true,
  },
  {
    name: "an intent that is logged after the effect",
    file: "packages/flow/src/run/calls.ts",
    find: "if (!live.durable || making.again) return undefined;",
    put: "if (live.durable || making.again) return undefined;",
    project: "flow",
    tests: "stays-on-record",
  },
  {
    name: "entries that are not held to their place in the chain",
    file: "packages/flow/src/checkpoint/chain.ts",
    find: "if (!holds) throw this.#tampered(revision); // L2",
    put: "if (!holds && revision < 0) throw this.#tampered(revision);",
    project: "flow",
    tests: "stays-on-record",
  },
  {
    name: "a checkpoint that is decoded whatever its seal says",
    file: "packages/seal/src/sealing/envelope.ts",
    find: "if (!equalMacs(mac, expected(macHead(version, purpose, kid, own, body), body))) {",
    put: "if (!equalMacs(mac, mac) && expected(macHead(version, purpose, kid, own, body), body)) {",
    project: "flow",
    tests: "refuses-tampering",
    quick: true,
  },
  {
    name: "a snapshot that any log will do for",
    file: "packages/flow/src/checkpoint/snapshot.ts",
    find: 'if (header["entry"] !== end.mac)',
    put: 'if (header["entry"] === "")',
    project: "flow",
    tests: "recovers-from-a-snapshot",
  },
  {
    name: "a log that is written anew each round",
    file: "packages/flow/src/checkpoint/repeats.ts",
    find: "return repeats.length === 0 ? text : keptText(text, repeats);",
    put: "return repeats.length === -1 ? keptText(text, repeats) : text;",
    project: "flow",
    tests: "writes-in-proportion",
  },
  {
    name: "a registry's row put back that is believed",
    file: "packages/workflows/src/run/log-reading.ts",
    find: "if (revision === undefined) return;",
    put: "if (revision !== record.revision) return;",
    project: "sqlite",
    tests: "rollback",
  },
  {
    name: "an approval put back that is only in the way",
    file: "packages/flow/src/run/spend.ts",
    find: "if (writes[known.write]?.statement === statements.appendAudit) {",
    put: "if (writes[known.write]?.statement === statements.putKey) {",
    project: "sqlite",
    tests: "rollback",
  },
  {
    name: "a purge that goes by a column",
    file: "packages/workflows/src/retention/retention.ts",
    find: "const opened = this.#codec.open(this.#scope, row);",
    put: 'const opened = this.#codec.open(this.#scope, (await this.#store.runs.get(this.#scope, row.key))!);\n          Object.assign(opened.record, { standing: { status: "completed" } });',
    project: "workflows",
    tests: "retention",
  },
  {
    name: "a waiting run that is taken out",
    file: "packages/workflows/src/retention/retention.ts",
    find: "if (!isTerminal(status)) {",
    put: 'if (status === "pending") {',
    project: "workflows",
    tests: "retention",
  },
  {
    name: "a registry's row that stays behind where its run's snapshot is taken",
    file: "packages/workflows/src/run/owner.ts",
    find: "return isSeen || !writes.some(isSnapshot) ? moves",
    put: "return isSeen || writes.length > 0 ? moves",
    project: "workflows",
    tests: "long-runs",
  },
  {
    name: "an event that is told before it stands",
    file: "packages/flow/src/run/live.ts",
    find: "const known = await commitKnown(log!, attemptId, [...own, ...beside.flat()]);",
    put: `for (const [index, { event }] of all.entries())
          this.#teller.tell(event, sealed.end.revision - all.length + 1 + index);
        const known = await commitKnown(log!, attemptId, [...own, ...beside.flat()]);`,
    project: "proof",
    tests: "told-after",
  },
];
