/**
 * What must not compile, and what must. Read by the type checker alone: a line that stops being a mistake is one.
 */
import { approve, deny, unverified } from "@holdpoint/approvals";
import { defineTool, edited } from "@holdpoint/tools";
import { z } from "zod";

import {
  answer,
  answerJson,
  defineInterrupt,
  flow,
  FlowRunner,
  part,
  replies,
  type Flow,
  type FlowInput,
  type FlowState,
  type NodeContext,
} from "../src/index.ts";

const State = z.object({
  order: z.string(),
  cents: z.int().optional(),
  note: z.string().optional(),
  tags: z.array(z.string()).default([]),
});
type S = z.output<typeof State>;

const pay = defineTool({
  name: "pay",
  description: "pays",
  input: z.object({ order: z.string(), cents: z.int() }),
  output: z.object({ id: z.string() }),
  confirm: ({ cents }) => cents > 5,
  execute: () => ({ id: "x" }),
});
const count = defineTool({
  name: "count",
  description: "counts",
  input: z.object({}),
  execute: () => 5,
});

const base = flow("f", State)
  .node("a", (s) => ({ cents: s.order.length }))
  .gate("g", { payload: (s) => ({ cents: s.cents ?? 0 }) })
  .call("p", pay, { args: (s) => ({ order: s.order, cents: 1 }) });
const built = base.path("a", "g", "p").build();
const runner = new FlowRunner();

// Maps
const over = (s: Readonly<S>) => s.tags;
const one = { order: "x", cents: 1 };
base
  .map("m", {
    over,
    each: async (tag, ctx, s) => (await ctx.step(`${ctx.index}`, () => tag.length)) + s.tags.length,
    into: (results, s) => ({ cents: results.values.reduce((a, b) => a + b, s.cents ?? 0) }),
  })
  .mapCall("mc", pay, {
    over,
    args: (tag, index) => ({ order: tag, cents: index }),
    into: (results) => ({
      note: results.items.map((item) => (item.ok ? item.value.id : item.reason)).join(),
    }),
  })
  .edge("m", "mc");
// @ts-expect-error there is already a node 'a'
base.map("a", { over, each: (tag) => tag, into: () => ({}) });
// @ts-expect-error over something that is no array
base.map("m", { over: (s) => s.order, each: (c: string) => c, into: () => ({}) });
// @ts-expect-error an item is a text
base.map("m", { over, each: (tag: number) => tag, into: () => ({}) });
// @ts-expect-error an item has no such member
base.map("m", { over, each: (tag) => tag.cents, into: () => ({}) });
// @ts-expect-error the state has no field 'foo'
base.map("m", { over, each: (tag) => tag, into: ({ values }) => ({ foo: values }) });
// @ts-expect-error a value of another type than the field
base.map("m", { over, each: (tag) => tag.length, into: ({ values }) => ({ note: values[0] }) });
// @ts-expect-error a skipped item has no value
base.map("m", { over, each: (tag) => tag, into: ({ items }) => ({ note: items[0]!.value }) });
// @ts-expect-error neither fail nor skip
base.map("m", { over, each: (tag) => tag, into: () => ({}), onError: "ignore" });
// @ts-expect-error an argument is missing
base.mapCall("m", pay, { over, args: (tag) => ({ order: tag }), into: () => ({}) });
// @ts-expect-error an argument is of another type
base.mapCall("m", pay, { over, args: (tag) => ({ order: tag, cents: tag }), into: () => ({}) });
// @ts-expect-error an item has no such member
base.mapCall("m", pay, { over, args: (tag) => ({ order: tag.id, cents: 1 }), into: () => ({}) });
// @ts-expect-error a result has no such member
base.mapCall("m", pay, { over, args: () => one, into: ({ values }) => ({ note: values[0]!.no }) });

// Flows within
const Small = z.object({ id: z.string(), left: z.int().default(0) });
const small = flow("small", Small)
  .node("a", () => ({}))
  .build();
base
  .subflow("w", small, { input: (s) => ({ id: s.order }), into: (end) => ({ cents: end.left }) })
  .node("n", async (s, ctx) => ({ cents: (await ctx.run(small, { id: s.order })).left }), {
    runs: [small, () => small],
  })
  .edge("w", "n");
// @ts-expect-error there is already a node 'a'
base.subflow("a", small, { input: (s) => ({ id: s.order }), into: () => ({}) });
// @ts-expect-error an input is missing
base.subflow("w", small, { input: () => ({}), into: () => ({}) });
// @ts-expect-error an input of another type
base.subflow("w", small, { input: () => ({ id: 5 }), into: () => ({}) });
// @ts-expect-error the flow within ends without such a field
base.subflow("w", small, { input: (s) => ({ id: s.order }), into: (end) => ({ cents: end.no }) });
// @ts-expect-error the state has no field 'foo'
base.subflow("w", small, { input: (s) => ({ id: s.order }), into: (end) => ({ foo: end.left }) });
// @ts-expect-error a builder is no flow
base.subflow("w", base, { input: () => ({ order: "" }), into: () => ({}) });
// @ts-expect-error an input of another type
base.node("n", async (_, ctx) => void (await ctx.run(small, { id: 5 })));
// @ts-expect-error the flow within ends without such a field
base.node("n", async (_, ctx) => ({ cents: (await ctx.run(small, { id: "" })).no }));
// @ts-expect-error a builder is no flow
base.node("n", () => ({}), { runs: [base] });

// Names in edges, paths and routes
// @ts-expect-error no such node
base.edge("nobody", "a");
// @ts-expect-error no such node
base.edge("a", "nobody");
// @ts-expect-error no such node
base.path("a", "g", "nobody");
// @ts-expect-error no such node
base.route("nobody", ["a"], () => "a");
// @ts-expect-error no such target
base.route("a", ["nobody"], () => "nobody");
// @ts-expect-error a target that is not declared
base.route("a", ["g", "p"], () => "a");
// @ts-expect-error an end that is not declared
base.route("a", ["g"], () => "$end");
// @ts-expect-error one of several that is not declared
base.route("a", ["g", "p"], () => ["g", "a"]);
base
  .route("a", ["g", "p"], () => ["g", "p"])
  .route("g", ["$end", "p"], (s) => (s.cents ? "p" : "$end"));
// @ts-expect-error no such node
base.start("nobody");
// @ts-expect-error no gate
base.denied("a", "p");
// @ts-expect-error no such node
base.denied("g", "nobody");
// @ts-expect-error no such node
base.failed("nobody", "a");
base.denied("g", "$end").failed("a", "p");

// Taken names
// @ts-expect-error there is already a node 'a'
base.node("a", () => ({}));
// @ts-expect-error there is already a node 'g'
base.gate("g", { payload: () => 1 });
// @ts-expect-error there is already a node 'p'
base.call("p", count, { args: {} });
// @ts-expect-error there is already a node 'a', also in what a part brings
base.use(part(State).node("a", () => ({})));
base.use(part(State).node("b", () => ({}))).edge("p", "b");

// Updates
// @ts-expect-error the state has no field 'foo'
base.node("u", () => ({ foo: 1 }));
// @ts-expect-error the state has no field 'foo', beside a right one
base.node("u", () => ({ cents: 1, foo: 1 }));
// @ts-expect-error the state has no field 'foo', from an async node
base.node("u", async () => ({ cents: 1, foo: 1 }));
// @ts-expect-error the state has no field 'foo', in one branch
base.node("u", (s) => (s.cents ? { cents: 1 } : { foo: 1 }));
// @ts-expect-error a field of another kind
base.node("u", () => ({ cents: "1" }));
// @ts-expect-error what a node must not write to
base.node("u", (s) => void (s.order = "x"));
base.node("u", (s, ctx) => (ctx.signal.aborted ? undefined : { note: s.order }));
base.node("u", async () => {});

// Tools, arguments and results
base.node("u", async (_, ctx) => {
  // @ts-expect-error an argument of another kind
  await ctx.call(pay, { order: "x", cents: "1" });
  // @ts-expect-error an argument that is missing
  await ctx.call(pay, { order: "x" });
  // @ts-expect-error an argument too many
  await ctx.call(pay, { order: "x", cents: 1, more: 1 });
  // @ts-expect-error no tool
  await ctx.call({ name: "pay" }, {});
  const got = await ctx.call(pay, { order: "x", cents: 1 });
  // @ts-expect-error a result without that field
  return { note: got.name };
});
base.node("u", async (_, ctx) => {
  const { id } = await ctx.call(pay, { order: "x", cents: 1 }, { key: "one" });
  const five: number = await ctx.call(count, {});
  const step: string = await ctx.step("think", () => "x");
  return { note: `${id} ${step}`, cents: five };
});

// Call nodes
// @ts-expect-error an argument of another kind
base.call("c", pay, { args: () => ({ order: 5, cents: 1 }) });
// @ts-expect-error an argument that is missing
base.call("c", pay, { args: { order: "x" } });
// @ts-expect-error no such field
base.call("c", count, { args: {}, into: "nofield" });
// @ts-expect-error a field that the result does not fit
base.call("c", count, { args: {}, into: "note" });
// @ts-expect-error the state has no field 'foo'
base.call("c", pay, { args: { order: "x", cents: 1 }, into: (r) => ({ foo: r.id }) });
// @ts-expect-error a result without that field
base.call("c", pay, { args: { order: "x", cents: 1 }, into: (r) => ({ note: r.name }) });
base.call("c", count, { args: {}, into: "cents" });
base.call("c", pay, {
  args: (s) => ({ order: s.order, cents: 1 }),
  into: (r, s) => ({ note: r.id + s.order }),
});

// Gates
// @ts-expect-error a payload of a field that is not there
base.gate("h", { payload: (s) => s.foo });
// @ts-expect-error when answers yes or no
base.gate("h", { payload: () => 1, when: () => "yes" });
base.gate("h", {
  // @ts-expect-error another form than its edits have
  payload: () => ({ cents: 1 }),
  edits: { schema: z.object({ cents: z.string() }), apply: () => ({}) },
});
base.gate("h", {
  payload: () => ({ cents: 1 }),
  // @ts-expect-error the state has no field 'foo'
  edits: { schema: z.object({ cents: z.number() }), apply: (e) => ({ foo: e.cents }) },
});
base.gate("h", {
  payload: (s) => ({ cents: s.cents ?? 0 }),
  edits: {
    schema: z.object({ cents: z.number() }),
    apply: (e, s) => ({ cents: e.cents, note: s.order }),
  },
  approvers: ["erin"],
  quorum: 1,
});

// Reducers
// @ts-expect-error no such field
base.reduce("nofield", (a) => a);
// @ts-expect-error not of the field's kind
base.reduce("tags", (a) => a.join(","));
base.reduce("tags", (a, b) => [...a, ...b]);

// Interrupts
const Evidence = defineInterrupt({
  name: "Evidence",
  info: z.object({ order: z.string() }),
  answer: z.object({ text: z.string(), at: z.coerce.date<string>() }),
  cursor: z.number(),
});
const Confirm = defineInterrupt({ name: "Confirm", answer: z.boolean() });
base.node(
  "asks",
  async (s, ctx) => {
    const left = ctx.cursor(Evidence);
    const from: number = left.restored ? left.value : 0;
    const found = await ctx.ask(Evidence, { order: s.order }, { cursor: from + 1 });
    const at: Date = found.at;
    const ok: boolean = await ctx.ask(Confirm);
    await ctx.ask(Confirm, undefined);
    return { note: `${found.text} ${at.getTime()} ${ok}` };
  },
  { asks: [Evidence, Confirm] },
);
export function asked(ctx: NodeContext): void {
  // @ts-expect-error info is missing
  void ctx.ask(Evidence);
  // @ts-expect-error info of another kind
  void ctx.ask(Evidence, { order: 5 });
  // @ts-expect-error info that there is none of
  void ctx.ask(Confirm, { order: "x" });
  // @ts-expect-error a cursor of another kind
  void ctx.ask(Evidence, { order: "x" }, { cursor: "1" });
  // @ts-expect-error a cursor that there is none of
  void ctx.ask(Confirm, undefined, { cursor: 1 });
  // @ts-expect-error an answer read as something else
  void ctx.ask(Confirm).then((ok: string) => ok);
  const left = ctx.cursor(Evidence);
  // @ts-expect-error a cursor read as something else
  void (left.restored ? left.value.toUpperCase() : "");
  // @ts-expect-error a cursor has a value only where it was restored
  void left.value;
  // @ts-expect-error what defineInterrupt did not make
  void ctx.ask("Evidence", { order: "x" });
}
// @ts-expect-error what defineInterrupt did not make
base.node("asks", () => {}, { asks: ["Evidence"] });
// @ts-expect-error nobody of that kind can answer
defineInterrupt({ name: "x", answer: z.string(), answerBy: "agents" });
answer(Evidence, { text: "x", at: "2026-11-30" });
// @ts-expect-error an answer of another kind
answer(Confirm, "yes");
// @ts-expect-error a part of an answer is missing
answer(Evidence, { text: "x" });
// @ts-expect-error an answer is given as what its schema reads
answer(Evidence, { text: "x", at: new Date() });
// @ts-expect-error an actor is made by an identity port
answer(Confirm, true, { by: { id: "dana" } });
replies({ a: answer(Confirm, true), b: approve({ by: unverified("dana") }), c: answerJson(1) });

// Running
// @ts-expect-error a start input of another kind
void runner.run(built, { order: 5 });
// @ts-expect-error a start input that is missing
void runner.run(built, {});
// @ts-expect-error a builder is no flow
void runner.run(base, { order: "x" });
// @ts-expect-error an answer is made by approve or deny
void runner.resume(built, "run-1", { kind: "approve" });
// @ts-expect-error so is each of several
replies({ id: { by: "dana" } });
// @ts-expect-error an actor is made by an identity port
approve({ by: { id: "dana" } });
// @ts-expect-error fresh input is nothing that a resume takes
void runner.resume(built, "run-1", approve({ by: unverified("dana") }), { input: {} });
// @ts-expect-error an edit of another kind
edited(pay, { order: "x", cents: "1" });

/** Inferred, and shown as plain types. */
export async function inferred(): Promise<[string, number | undefined, string[]]> {
  const result = await runner.run(built, { order: "x" });
  if (result.status === "paused") {
    // @ts-expect-error a paused run has no state to show
    void result.state;
    void deny({ by: unverified("dana") });
    return [result.pending.tool, undefined, []];
  }
  // @ts-expect-error the state is read-only in nobody's hands but has no such field
  void result.state.foo;
  return [result.state.order, result.state.cents, result.state.tags];
}

export const input: FlowInput<typeof built> = { order: "x" };
export const state: FlowState<typeof built> = { order: "x", tags: [] };
export const named: Flow<S, z.input<typeof State>, "a" | "g" | "p"> = built;
