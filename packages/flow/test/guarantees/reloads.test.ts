import { defineTool } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { flow, memoryRunLog, replies, type Migration } from "../../src/index.ts";
import { paused, rejection, stateOf, world, yes } from "../support/world.ts";

const State = z.object({ n: z.number(), sum: z.number().optional() });
type S = z.output<typeof State>;

/** What a reload changes of the code that a run was begun with. */
interface Code {
  readonly gate?: "look" | "see";
  readonly edge?: boolean;
  readonly toolVersion?: string;
  readonly onError?: "skip";
  readonly payload?: (s: S) => unknown;
  readonly add?: (s: S) => { sum: number };
  readonly identity?: "node" | "source";
}

let ran: string[] = [];

/** A flow that waits at a gate, as the code says. Built without types: its names differ. */
function coded({
  gate = "look",
  payload = (s) => s.sum,
  add = (s) => ({ sum: s.n + 1 }),
  ...code
}: Code) {
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ n: z.number() }),
    output: z.number(),
    ...(code.toolVersion !== undefined && { version: code.toolVersion }),
    execute: ({ n }) => {
      ran.push(`pay(${n})`);
      return n;
    },
  });
  const { identity = "node", onError } = code;
  const built = flow("f", State, { identity })
    .node("add", add)
    .gate(gate as "look", { payload })
    .mapCall("pay", pay, {
      over: (s) => [s.sum!],
      args: (n) => ({ n }),
      into: ({ values }) => ({ sum: values[0]! }),
      ...(onError && { onError }),
    })
    .path("add", gate as "look", "pay");
  return (code.edge ? built.edge("add", "pay") : built).build();
}

/** What a reload may bring, and what of it is refused. */
const reloads: Record<string, readonly [Code, Code, object]> = {
  "a node that was renamed": [
    {},
    { gate: "see" },
    { differs: ["node:add", "node:look", "node:see"] },
  ],
  "an edge that was added": [{}, { edge: true }, { differs: ["node:add"] }],
  "a tool's option": [{}, { toolVersion: "2" }, { differs: ["node:pay"] }],
  "a map's option": [{}, { onError: "skip" }, { differs: ["node:pay"] }],
  "a gate's payload": [{}, { payload: (s) => s.n }, { node: "look#1", field: "payload" }],
  "a body that changed, where the flow compares texts,": [
    { identity: "source" },
    { identity: "source", add: (s) => ({ sum: s.n * 2 }) },
    { differs: ["node:add"] },
  ],
};

for (const kind of ["portable", "durable"] as const) {
  const opened = async (code: Code) => {
    ran = [];
    const log = memoryRunLog();
    const here = world(kind === "durable" ? { log } : {});
    const was = coded(code);
    const first = paused(await here.runner().run(was, { n: 1 }, { runId: "r" }));
    const standing = async () => [
      await here.store.lastChange("default"),
      await log.head("default", "r"),
      await here.count("pending"),
      [...ran],
    ];
    const resume = (f: typeof was) => {
      const reply = replies({ [first.pending.id]: yes() });
      return kind === "durable"
        ? here.runner().resume(f, "r", reply)
        : here.runner().resume(f, first.checkpoint, reply);
    };
    return { ...here, was, first, standing, resume };
  };

  describe(`code that is reloaded under a ${kind} run that waits`, () => {
    for (const [what, [before, after, data]] of Object.entries(reloads)) {
      it(`R127 FLOW-51 FLOW-63 refuses ${what} before anything is spent (${kind})`, async () => {
        const { was, standing, resume } = await opened(before);
        const stood = await standing();
        const error = await rejection(resume(coded(after)));
        expect(error).toMatchObject({ code: "graph-version-mismatch", data });
        expect(await standing()).toEqual(stood);
        expect(stateOf(await resume(was))).toMatchObject({ sum: 2 }); // the old code still goes on
        expect(ran).toEqual(["pay(2)"]);
      });
    }

    it(`R127 FLOW-52 takes a body that changed alone, where the flow compares places (${kind})`, async () => {
      const { resume } = await opened({});
      expect(stateOf(await resume(coded({ add: (s) => ({ sum: s.n * 2 }) })))).toMatchObject({
        sum: 2,
      });
      expect(ran).toEqual(["pay(2)"]);
    });

    it(`R127 FLOW-53 goes on by a migration that names what was renamed (${kind})`, async () => {
      const { was, first, runner, count } = await opened({});
      const is = coded({ gate: "see" });
      const migration: Migration = {
        flow: "f",
        from: was.digest,
        to: is.digest,
        nodes: { look: "see" },
      };
      const carrying = runner({ migrations: [migration] });
      const reply = replies({ [first.pending.id]: yes() });
      const from = kind === "durable" ? "r" : first.checkpoint;
      expect(stateOf(await carrying.resume(is, from, reply))).toMatchObject({ sum: 2 });
      expect(ran).toEqual(["pay(2)"]);
      expect(await count("pending")).toBe(0);
    });
  });
}
