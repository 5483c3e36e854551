import { outboxMove, outboxWrite, type OutboxStore } from "../outbox/store.ts";
import { attempt, holds, keysOf, refusal, same } from "./registry-case.ts";

/** An outbox that a case may do anything with. */
export interface OutboxUnderTest {
  /** Empty. */
  readonly outbox: OutboxStore;
  /** Another handle on the same rows, as a second connection or process has one. */
  another(): OutboxStore | Promise<OutboxStore>;
  close(): void | Promise<void>;
}

export type MakeOutbox = () => OutboxUnderTest | Promise<OutboxUnderTest>;

/** One claim about any outbox, with what shows it. */
export interface OutboxCase {
  /** A claim in the present tense behind the ids of what it shows. */
  readonly name: string;
  /** Rejects where the claim does not hold. Cases don't depend on each other or on their order. */
  readonly run: (make: MakeOutbox) => Promise<void>;
}

const scope = "acme";

function outboxCase(name: string, body: (under: OutboxUnderTest) => Promise<void>): OutboxCase {
  return {
    name,
    async run(make) {
      const under = await make();
      try {
        await body(under);
      } finally {
        await under.close();
      }
    },
  };
}

async function fill(outbox: OutboxStore, ids: readonly string[]): Promise<void> {
  const writes = ids.map((id) => outboxWrite(scope, id, `sealed ${id}`));
  holds((await outbox.commit(attempt(), writes)).status === "done", "what is new is put");
}

/** Rows that are to be told: by their time, once each, until they were. */
export const outboxCases: readonly OutboxCase[] = [
  outboxCase("WF-36 answers what is due, by its time and then its key", async (under) => {
    const { outbox } = under;
    await fill(outbox, ["run-2/3/ended", "run-1/4/waiting", "run-1/10/ended"]);
    const all = await outbox.due(scope, 0, 10);
    same(keysOf(all), ["run-1/10/ended", "run-1/4/waiting", "run-2/3/ended"], "all, by key");
    same(all[0]?.values["sealed"], "sealed run-1/10/ended", "what is in it");
    await outbox.commit(attempt(), [outboxMove(scope, all[0]!, { dueAt: 500, tries: 1 })]);
    await outbox.commit(attempt(), [outboxMove(scope, all[1]!, { dueAt: 400, tries: 1 })]);
    const other = await under.another();
    same(keysOf(await other.due(scope, 399, 10)), ["run-2/3/ended"], "a moment before");
    const later = ["run-2/3/ended", "run-1/4/waiting", "run-1/10/ended"];
    same(keysOf(await other.due(scope, 500, 10)), later, "at the instant");
    same(keysOf(await other.due(scope, 500, 2)), later.slice(0, 2), "a page");
    same(await other.due("other", 500, 10), [], "of another scope");
  }),

  outboxCase("WF-36 answers no more what was handed over", async ({ outbox }) => {
    await fill(outbox, ["run-1/4/waiting", "run-1/9/ended"]);
    const [first] = await outbox.due(scope, 0, 10);
    await outbox.commit(attempt(), [outboxMove(scope, first!, { state: "done" })]);
    same(keysOf(await outbox.due(scope, 1e15, 10)), ["run-1/9/ended"], "what is left");
  }),

  outboxCase("WF-36 lets one of several take a row", async (under) => {
    await fill(under.outbox, ["run-1/4/waiting"]);
    const other = await under.another();
    const [row] = await other.due(scope, 0, 10);
    const takes = [under.outbox, other].map((outbox) =>
      outbox.commit(attempt(), [outboxMove(scope, row!, { dueAt: 100, tries: 1 })]),
    );
    const outcomes = await Promise.all(takes);
    same(outcomes.filter(({ status }) => status === "done").length, 1, "who has it");
    refusal(outcomes.find(({ status }) => status !== "done")!);
  }),

  outboxCase("WF-36 keeps a row that is put again as it stands", async ({ outbox }) => {
    await fill(outbox, ["run-1/4/waiting"]);
    const [row] = await outbox.due(scope, 0, 10);
    await outbox.commit(attempt(), [outboxMove(scope, row!, { state: "done" })]);
    await fill(outbox, ["run-1/4/waiting"]);
    same(await outbox.due(scope, 1e15, 10), [], "what is due");
  }),
];
