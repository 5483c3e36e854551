import type { Write } from "@holdpoint/approvals";
import { appendWrite, snapshotWrite, type RunLog } from "@holdpoint/flow";

/** A log that a case may do anything with. */
export interface LogUnderTest {
  /** Empty. */
  readonly log: RunLog;
  /** Another handle on the same rows, as a second connection or process has one. */
  readonly another: () => RunLog | Promise<RunLog>;
  readonly close: () => void;
}

/** One claim about any run log, with what shows it; no test runner in it. */
export interface LogCase {
  readonly name: string;
  readonly run: (under: LogUnderTest) => Promise<void>;
}

const scope = "acme";
const entry = (revision: number, run = "run-1", text = `entry ${revision}`): Write =>
  appendWrite(scope, run, revision, text);

function same(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what}: expected ${right}, got ${left}`);
}

async function commits(log: RunLog, attempt: string, writes: readonly Write[]): Promise<void> {
  same((await log.commit(attempt, writes)).status, "done", `the commit ${attempt}`);
}

export const runLogCases: readonly LogCase[] = [
  {
    name: "FLOW-72 gives entries back in order, past a revision, a page at a time",
    async run({ log }) {
      same(await log.head(scope, "run-1"), 0, "the head of no run");
      same(await log.read(scope, "run-1", 0, 10), [], "the entries of no run");
      await commits(log, "one", [entry(1), entry(2)]);
      for (let revision = 3; revision <= 12; revision += 1) {
        await commits(log, `more-${revision}`, [entry(revision)]);
      }
      same(await log.head(scope, "run-1"), 12, "the head");
      const page = await log.read(scope, "run-1", 8, 3);
      const expected = [9, 10, 11].map((revision) => ({ revision, text: `entry ${revision}` }));
      same(page, expected, "a page");
      same(await log.read(scope, "run-1", 12, 3), [], "past the head");
    },
  },
  {
    name: "FLOW-73 FLOW-75 refuses a revision that is taken, and keeps what stands there",
    async run({ log }) {
      await commits(log, "one", [entry(1)]);
      const outcome = await log.commit("two", [entry(2), entry(1, "run-1", "another")]);
      same(outcome.status, "refused", "a taken revision");
      if (outcome.status !== "refused" || outcome.refusal.because !== "version") return;
      same([outcome.write, outcome.refusal.stands?.attempt], [1, "one"], "which, and whose");
      same(await log.head(scope, "run-1"), 1, "the rest of the list");
      same(await log.read(scope, "run-1", 0, 9), [{ revision: 1, text: "entry 1" }], "the entry");
    },
  },
  {
    name: "APR-26 repeats an append of the same attempt as done",
    async run({ log }) {
      await commits(log, "one", [entry(1), entry(2)]);
      await commits(log, "two", [entry(3)]);
      const again = await log.commit("one", [entry(1), entry(2)]);
      same(again, { status: "done", repeated: true }, "the repetition");
      same(await log.head(scope, "run-1"), 3, "the head after it");
    },
  },
  {
    name: "FLOW-72 keeps runs and scopes apart, also where one id begins with another",
    async run({ log }) {
      const ids = ["run", "run-1", "run-10", "run.1", "run:"];
      for (const id of ids) await commits(log, `of-${id}`, [entry(1, id, `text of ${id}`)]);
      for (const id of ids) {
        const read = await log.read(scope, id, 0, 10);
        same(read, [{ revision: 1, text: `text of ${id}` }], `the entries of ${id}`);
        same(await log.head("other", id), 0, `the head of ${id} elsewhere`);
        same(await log.read("other", id, 0, 10), [], `the entries of ${id} elsewhere`);
      }
    },
  },
  {
    name: "FLOW-75 lets one of many racing handles take a revision",
    async run({ log, another }) {
      const logs = [log, await another(), await another()];
      for (let revision = 1; revision <= 20; revision += 1) {
        const outcomes = await Promise.all(
          Array.from({ length: 12 }, (_, at) =>
            logs[at % 3]!.commit(`r${revision}-${at}`, [entry(revision, "run-1", `by ${at}`)]),
          ),
        );
        same(outcomes.filter(({ status }) => status === "done").length, 1, "the winners");
        same(outcomes.filter(({ status }) => status === "refused").length, 11, "the losers");
      }
      same(await log.head(scope, "run-1"), 20, "the head");
    },
  },
  {
    name: "FLOW-72 keeps the newest snapshot of a run, by compare-and-set",
    async run({ log, another }) {
      const snapshot = (version: number, revision: number, run = "run-1"): Write =>
        snapshotWrite(scope, run, { version, revision, text: `state at ${revision}` });
      same(await log.snapshot(scope, "run-1"), undefined, "the snapshot of no run");
      await commits(log, "one", [entry(1), snapshot(1, 1)]);
      await commits(log, "two", [entry(2), snapshot(2, 2), snapshot(1, 7, "run-10")]);
      const stale = await (await another()).commit("three", [entry(3), snapshot(2, 3)]);
      same(stale.status, "refused", "a version that is taken");
      const newest = { version: 2, revision: 2, text: "state at 2" };
      same(await (await another()).snapshot(scope, "run-1"), newest, "the newest");
      same(await log.snapshot("other", "run-1"), undefined, "a snapshot elsewhere");
      same(await log.head(scope, "run-1"), 2, "the rest of a refused list");
      const again = await log.commit("two", [entry(2), snapshot(2, 2), snapshot(1, 7, "run-10")]);
      same(again, { status: "done", repeated: true }, "the repetition");
    },
  },
  {
    name: "FLOW-72 tells a snapshot and the entries from its own on as it tells either, where it tells both",
    async run({ log, another }) {
      if (log.tail === undefined) return;
      const tells = async (run: string, limit: number, of = scope): Promise<void> => {
        const snapshot = await log.snapshot(of, run);
        const rows = await log.read(of, run, (snapshot?.revision ?? 1) - 1, limit);
        same(await log.tail!(of, run, limit), { snapshot, rows }, `the tail of ${run} in ${of}`);
      };
      const snapshot = (version: number, revision: number, run = "run-1"): Write =>
        snapshotWrite(scope, run, { version, revision, text: `state at ${revision}` });
      await tells("run-1", 10);
      const numbers = Array.from({ length: 12 }, (_, at) => at + 1);
      await commits(log, "one", [...numbers.map((at) => entry(at)), entry(1, "run-10")]);
      await tells("run-1", 10);
      await commits(log, "two", [entry(13), snapshot(1, 3), snapshot(1, 1, "run-10")]);
      for (const run of ["run-1", "run-10", "run"]) await tells(run, 10);
      await commits(await another(), "three", [entry(14), snapshot(2, 12)]);
      for (const limit of [1, 2, 3, 10]) await tells("run-1", limit);
      await tells("run-1", 10, "other");
    },
  },
  {
    name: "FLOW-72 keeps large and strange texts as they are",
    async run({ log }) {
      const texts = [
        "x".repeat(2_000_000),
        "\u{1F469}\u200D\u{1F680} ünï",
        "'; drop table log; --",
        "",
      ];
      await commits(
        log,
        "one",
        texts.map((text, at) => entry(at + 1, "run-1", text)),
      );
      const read = await log.read(scope, "run-1", 0, 10);
      same(
        read.map(({ text }) => text),
        texts,
        "the texts",
      );
    },
  },
];
