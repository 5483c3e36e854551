// Fields that only grow are logged as what is new in them: whoever reads the log is told the whole, and a run goes on as if it had been.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { Whole } from "../../src/checkpoint/whole.ts";
import {
  appendWrite,
  flow,
  FlowRunner,
  memoryRunLog,
  type RunEvent,
  type RunLog,
} from "../../src/index.ts";
import { snapshotEventsMin } from "../../src/limits.ts";
import { keyring, rejection, stateOf } from "../support/world.ts";

const Line = z.object({ id: z.number(), text: z.string() });
type Line = z.infer<typeof Line>;

/** What a round does with its list and its text. */
const moves = {
  add: (list: readonly Line[], n: number) => [...list, { id: n, text: "added" }],
  "add many": (list: readonly Line[], n: number) => [...list, ...lines(n, 3)],
  "replace the last": (list: readonly Line[], n: number) => [...list.slice(0, -1), ...lines(n, 1)],
  "drop the first": (list: readonly Line[]) => list.slice(1),
  "put in front": (list: readonly Line[], n: number) => [...lines(n, 1), ...list],
  copy: (list: readonly Line[]) => structuredClone(list) as Line[],
  keep: (list: readonly Line[]) => list,
  clear: () => [],
};
type Move = keyof typeof moves;

function lines(n: number, count: number): Line[] {
  return Array.from({ length: count }, (_, at) => ({ id: n * 10 + at, text: "x".repeat(50) }));
}

const State = z.object({
  n: z.number(),
  list: z.array(Line),
  told: z.array(z.string()),
  text: z.string().optional(),
});
type State = z.infer<typeof State>;

const within = flow("within", z.object({ n: z.number(), seen: z.array(z.number()) }))
  .node("count", ({ n, seen }) => ({ n: n - 1, seen: [...seen, n] }))
  .route("count", ["count", "$end"], ({ n }) => (n > 0 ? "count" : "$end"))
  .build();

/** A round for each move: one node changes the list and the text, one beside it adds to what a reducer joins and runs a flow. */
function playing(played: readonly Move[]) {
  return flow("playing", State)
    .node("next", ({ n }) => ({ n: n + 1 }))
    .node("list", ({ n, list, text = "" }) => ({
      list: moves[played[n - 1]!](list, n) as Line[],
      text: n % 4 === 0 ? undefined : `${text}${"spoken ".repeat(300)}`,
      told: ["list"],
    }))
    .subflow("beside", within, {
      input: ({ n }) => ({ n, seen: [] }),
      into: ({ seen }) => ({ told: seen.map(String) }),
    })
    .reduce("told", (current, added) => [...current, ...added])
    .edge("next", "list")
    .edge("next", "beside")
    .route("list", ["next", "$end"], ({ n }) => (n < played.length ? "next" : "$end"))
    .build();
}

const input = { n: 0, list: lines(0, 2), told: [] };

/** The state that each round led to, by what the moves say. */
function expected(played: readonly Move[]): State {
  let state: State = input;
  for (const [at, move] of played.entries()) {
    const n = at + 1;
    const text = `${state.text ?? ""}${"spoken ".repeat(300)}`;
    const told = [...state.told, "list", ...Array.from({ length: n }, (_, k) => String(n - k))];
    const list = moves[move](state.list, n) as Line[];
    state = { n, list, told, ...(n % 4 !== 0 && { text }) };
  }
  return state;
}

const runner = (log: RunLog): FlowRunner => new FlowRunner({ log, keyring });

/** A log of the first rows of another one. */
async function cutAt(log: RunLog, revision: number): Promise<RunLog> {
  const rows = await log.read("default", "r", 0, revision);
  const cut = memoryRunLog();
  await cut.commit(
    "cut",
    rows.map((row) => appendWrite("default", "r", row.revision, row.text)),
  );
  return cut;
}

/** Characters that were sealed of each entry, also where fewer are kept. */
async function sealedChars(log: RunLog, runId: string): Promise<number[]> {
  const rows = await log.read("default", runId, 0, 10_000);
  return rows.map(({ text }) => Number(/^~(\d+)/u.exec(text)?.[1] ?? text.length));
}

describe("fields that grow", () => {
  it("FLOW-73 FLOW-74 are told whole, and go on whole from any revision (60 programs)", async () => {
    const programs = fc.array(fc.constantFrom(...(Object.keys(moves) as Move[])), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(programs, fc.nat(), async (played, cut) => {
        const log = memoryRunLog();
        const f = playing(played);
        const end = stateOf(await runner(log).run(f, input, { runId: "r" }));
        expect(end).toEqual(expected(played));
        const events = await runner(log).history(f, "r");
        const lists = events.flatMap((event) =>
          event.type === "visit-finished" && event.visit.startsWith("list#") && event.end.ok
            ? [event.end.update["list"]]
            : [],
        );
        expect(lists).toEqual(played.map((_, at) => expected(played.slice(0, at + 1)).list));
        const joined = events.flatMap((event) =>
          event.type === "routed" && "told" in event.reduced ? [event.reduced["told"]] : [],
        );
        expect(joined.at(-1)).toEqual(end.told);
        const from = await cutAt(log, 1 + (cut % (events.length - 1)));
        expect(stateOf(await runner(from).adopt(f, "r"))).toEqual(end);
        expect((await runner(from).history(f, "r")).flatMap(written)).toEqual(
          events.flatMap(written),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("FLOW-73 cost what is new in them, also under the seal", async () => {
    const loop = (rounds: number) =>
      flow("loop", z.object({ list: z.array(Line), told: z.array(Line), text: z.string() }))
        .node("one", ({ list, text }) => ({
          list: [...list, { id: list.length, text: `${list.length} `.repeat(200) }],
          told: [{ id: 0, text: `${list.length},`.repeat(200) }],
          text: `${text}${list.length};`.padEnd(text.length + 500, "."),
        }))
        .reduce("told", (current, added) => [...current, ...added])
        .route("one", ["one", "$end"], ({ list }) => (list.length < rounds ? "one" : "$end"))
        .build();
    const log = memoryRunLog();
    const from = { list: [], told: [], text: "" };
    stateOf(await runner(log).run(loop(150), from, { runId: "r" }));
    const chars = await sealedChars(log, "r");
    expect(chars.length).toBeGreaterThan(snapshotEventsMin);
    expect(Math.max(...chars.slice(30))).toBeLessThan(1.5 * Math.max(...chars.slice(15, 30)));
    const { state } = (await runner(log).history(loop(150), "r"))[0] as { state: object };
    expect(state).toEqual(from);
    expect(await runner(log).history(loop(150), "r", { after: chars.length - 4 })).toEqual(
      (await runner(log).history(loop(150), "r")).slice(-4),
    );
  });

  it("FLOW-73 FLOW-47 are logged whole where somebody could have changed them since", async () => {
    const kept = { deep: { n: 1 } };
    const Loose = z.object({ list: z.array(z.object({ any: z.any() })), n: z.number() });
    const f = flow("loose", Loose)
      .node("one", ({ list, n }) => {
        kept.deep.n = n;
        return { list: [...list, { any: n === 0 ? kept : n }], n: n + 1 };
      })
      .route("one", ["one", "$end"], ({ n }) => (n < 3 ? "one" : "$end"))
      .build();
    const log = memoryRunLog();
    stateOf(await runner(log).run(f, { list: [], n: 0 }, { runId: "r" }));
    const told = (await runner(log).history(f, "r")).flatMap((event) =>
      event.type === "visit-finished" && event.end.ok ? [event.end.update["list"]] : [],
    );
    expect(told).toEqual([
      [{ any: { deep: { n: 0 } } }],
      [{ any: { deep: { n: 1 } } }, { any: 1 }],
      [{ any: { deep: { n: 2 } } }, { any: 1 }, { any: 2 }],
    ]);
  });

  it("FLOW-26 SEAL-20 pass no limit bit by bit: what could not be sealed whole is refused, and named", async () => {
    const f = flow("large", z.object({ list: z.array(z.array(z.number())) }))
      .node("one", ({ list }) => ({ list: [...list, ...Array.from({ length: 90_000 }, () => [])] }))
      .route("one", ["one", "$end"], () => "one")
      .build();
    const log = memoryRunLog();
    expect(await rejection(runner(log).run(f, { list: [] }, { runId: "r" }))).toMatchObject({
      code: "state-not-sealable",
      data: { path: expect.stringContaining("update.list") as string },
    });
    const events = await runner(log).history(f, "r");
    expect(events.filter(({ type }) => type === "visit-finished")).toHaveLength(2);
  });

  it("FLOW-73 that go on from what is not there are refused", () => {
    const grown = (field: string, keeps: number, adds: unknown): RunEvent =>
      ({
        at: 1,
        type: "visit-finished",
        visit: "one#1",
        end: { ok: true, update: {}, grown: { [field]: { keeps, adds } } },
      }) as RunEvent;
    const from = { state: { list: [1], text: "ab" }, path: "", visits: [], frames: new Map() };
    const whole = () => new Whole("r", from as never);
    expect(whole().take(grown("list", 1, [2]))).toMatchObject({
      end: { update: { list: [1, 2] } },
    });
    expect(whole().take(grown("text", 1, "c"))).toMatchObject({ end: { update: { text: "ac" } } });
    const refused = { code: "checkpoint-tampered", data: { runId: "r" } };
    for (const event of [
      grown("list", 2, [2]),
      grown("text", 3, "c"),
      grown("text", 1, ["c"]),
      grown("other", 0, []),
    ])
      expect(() => whole().take(event)).toThrow(expect.objectContaining(refused));
    expect(() => new Whole("r").take(grown("list", 1, [2]))).toThrow(
      expect.objectContaining(refused),
    );
  });
});

/** What was written to the state at the end of a round. */
function written(event: RunEvent): object[] {
  return event.type === "routed" && event.frame === undefined ? [event.reduced] : [];
}
