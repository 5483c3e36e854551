import type { ApprovalStore } from "../store.ts";
import {
  append,
  attempt,
  commits,
  holds,
  put,
  putKey,
  same,
  storeCase,
  tenant,
  type StoreCase,
} from "./store-case.ts";

const callers = Array.from({ length: 64 }, (_, at) => at);

/** Many at once, on two handles. */
export const raceCases: readonly StoreCase[] = [
  storeCase(
    "APR-20 lets exactly one of 64 racing writes stand, and tells the others which",
    async (under) => {
      const handles = await two(under);
      await commits(under.store, [put("a", 0)]);
      const outcomes = await Promise.all(
        callers.map((at) => {
          const state = at % 2 === 0 ? "decided" : "consumed";
          return handles[at % 2]!.commit(`racer-${at}`, [put("a", 1, { state }), append("a", 1)]);
        }),
      );
      const winners = callers.filter((at) => outcomes[at]?.status === "done");
      same(winners.length, 1, "the winners");
      const row = await under.store.get(tenant, "a");
      same([row?.version, row?.attempt], [2, `racer-${winners[0]}`], "the row");
      for (const outcome of outcomes) {
        if (outcome.status === "done") continue;
        holds(outcome.status === "refused", `a loser is ${outcome.status}`);
        holds(outcome.refusal.because === "version", "a loser is refused by the version");
        same(outcome.refusal.stands?.attempt, row?.attempt, "what a loser is told");
      }
      same((await under.store.history(tenant, "a", 0, 10)).length, 1, "the audit entries");
    },
  ),

  storeCase(
    "APR-17 lets one of 64 filings of a call stand, record and key together",
    async (under) => {
      const handles = await two(under);
      const outcomes = await Promise.all(
        callers.map((at) => {
          const id = `record-${at}`;
          const writes = [putKey("call", 0, id), put(id, 0), append(id, 1)];
          return handles[at % 2]!.commit(attempt(), writes);
        }),
      );
      same(
        outcomes.filter((outcome) => outcome.status === "done").length,
        1,
        "the filings that stand",
      );
      const rows = await under.store.list(tenant, {}, { order: "oldest", limit: 100 });
      const key = await under.store.find(tenant, "call");
      same(
        rows.map((row) => row.key),
        [key?.values["id"]],
        "the records, and the one that is found",
      );
    },
  ),

  storeCase("APR-29 never lets two lists stand by halves", async (under) => {
    const handles = await two(under);
    for (let round = 0; round < 16; round += 1) {
      const [left, right] = [`left-${round}`, `right-${round}`];
      const outcomes = await Promise.all([
        handles[0].commit(`p-${round}`, [put(left, 0), put(right, 0)]),
        handles[1].commit(`q-${round}`, [put(right, 0), put(left, 0)]),
      ]);
      same(outcomes.filter(({ status }) => status === "done").length, 1, "the lists that stand");
      const rows = await Promise.all([left, right].map((id) => under.store.get(tenant, id)));
      same(rows[0]?.attempt, rows[1]?.attempt, "the attempts of the two rows");
    }
  }),

  storeCase(
    "APR-26 answers done to every one of 16 deliveries of one attempt, and applies it once",
    async (under) => {
      const handles = await two(under);
      const writes = [put("a", 0), append("a", 1)];
      const outcomes = await Promise.all(
        callers.slice(0, 16).map((at) => handles[at % 2]!.commit("one", writes)),
      );
      holds(
        outcomes.every(({ status }) => status === "done"),
        "every delivery is done",
      );
      const first = outcomes.filter((outcome) => outcome.status === "done" && !outcome.repeated);
      same(first.length, 1, "the deliveries that were not repetitions");
      same((await under.store.get(tenant, "a"))?.version, 1, "the version");
    },
  ),

  storeCase("APR-26 settles a commit whose answer was lost by asking again", async (under) => {
    const losing = losingAnswers(under.store);
    const applied = [put("a", 0), append("a", 1)];
    same((await losing.commit("one", applied)).status, "unknown", "the lost answer");
    same(
      await under.store.commit("one", applied),
      { status: "done", repeated: true },
      "asked again",
    );
    await commits(under.store, [put("b", 0)], "other");
    const refused = [put("b", 0), append("b", 1)];
    same((await losing.commit("two", refused)).status, "unknown", "a lost refusal");
    same((await under.store.commit("two", refused)).status, "refused", "asked again");
  }),

  storeCase("APR-29 shows a second handle what the first committed", async (under) => {
    const second = await under.another();
    await commits(under.store, [put("a", 0), append("a", 1), putKey("call", 0, "a")]);
    same((await second.get(tenant, "a"))?.version, 1, "the record");
    same((await second.find(tenant, "call"))?.values["id"], "a", "the key");
    same((await second.history(tenant, "a", 0, 10)).length, 1, "the entries");
    await commits(second, [put("a", 1, { state: "decided" })]);
    same((await under.store.get(tenant, "a"))?.version, 2, "the record, moved by the second");
  }),
];

async function two(under: {
  readonly store: ApprovalStore;
  another(): ApprovalStore | Promise<ApprovalStore>;
}): Promise<readonly [ApprovalStore, ApprovalStore]> {
  return [under.store, await under.another()];
}

/** Commits, and loses what it was told. */
function losingAnswers(store: ApprovalStore): Pick<ApprovalStore, "commit"> {
  return {
    async commit(attemptId, writes) {
      await store.commit(attemptId, writes);
      return { status: "unknown", cause: "the answer was lost" };
    },
  };
}
