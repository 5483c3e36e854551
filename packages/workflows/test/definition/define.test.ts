import { flow } from "@holdpoint/flow";
import { keyringOf } from "@holdpoint/seal";
import { memoryHome } from "@holdpoint/approvals";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

import { workflowFacts } from "../../src/definition/facts.ts";
import { compareVersions, Definitions } from "../../src/definition/versions.ts";
import {
  defineWorkflow,
  Workflows,
  type Workflow,
  type WorkflowInput,
  type WorkflowOutput,
  type WorkflowResume,
} from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";

const State = z.object({ orderId: z.string(), cents: z.int().optional() });
const built = flow("orders", State)
  .node("price", () => ({ cents: 5 }))
  .build();

const definition = (name: string, version: string): Workflow =>
  defineWorkflow({ name, version, input: z.object({ orderId: z.string() }), flow: built });

describe("definitions", () => {
  it.each([
    { name: "", version: "1" },
    { name: "a/b", version: "1" },
    { name: "1st", version: "1" },
    { name: "a".repeat(65), version: "1" },
    { name: "a", version: "" },
    { name: "a", version: "1 2" },
    { name: "a", version: "1", description: "x".repeat(1_025) },
  ])("WF-01 refuses a name, version or description of another form: %o", (spec) => {
    const make = () => defineWorkflow({ ...spec, input: State, flow: built });
    expect(make).toThrow(expect.objectContaining({ code: "definition-invalid" }));
  });

  it("WF-01 takes the newest version for a name and exactly itself for a definition", () => {
    const [one, ten, two] = ["1.0", "1.10", "1.2"].map((version) => definition("a", version));
    const definitions = new Definitions([one!, ten!, two!]);
    expect(definitions.resolve("a")).toBe(ten);
    expect(definitions.resolve(one!)).toBe(one);
    expect(definitions.find("a", "1.2")).toBe(two);
    const elsewhere = definition("a", "1.0");
    for (const unknown of ["b", elsewhere]) {
      const code = "unknown-definition";
      expect(() => definitions.resolve(unknown)).toThrow(expect.objectContaining({ code }));
    }
  });

  it("WF-01 refuses two definitions of one name and version", () => {
    const twice = () => new Definitions([definition("a", "1"), definition("a", "1")]);
    expect(twice).toThrow(expect.objectContaining({ code: "definition-invalid" }));
    expect(() => new Definitions([{ name: "a", version: "1" } as Workflow])).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("WF-01 orders versions as people read them", () => {
    const ascending = [
      ["0.9", "1", "1.0", "1.0.1", "1.2", "1.9", "1.10", "2", "10"],
      ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.2", "1.0.0-beta", "1.0.0", "1.0.0+b"],
      ["2026-01-31", "2026-02-01", "2026-11-02"],
      ["99999999999999999998", "99999999999999999999"],
      ["v1", "v2", "v10"],
    ];
    for (const versions of ascending) {
      const shuffled = versions.toReversed();
      expect(shuffled.toSorted(compareVersions)).toEqual(versions);
    }
  });
});

describe("types of definitions", () => {
  const direct = defineWorkflow({
    name: "direct",
    version: "1",
    input: z.object({ orderId: z.string() }),
    resume: z.object({ ok: z.boolean().default(true) }),
    output: z.object({ orderId: z.string(), cents: z.int().optional() }),
    flow: built,
  });

  it("WF-01 follow the schemas", () => {
    expectTypeOf<WorkflowInput<typeof direct>>().toEqualTypeOf<{ orderId: string }>();
    expectTypeOf<WorkflowResume<typeof direct>>().toEqualTypeOf<{ ok?: boolean | undefined }>();
    expectTypeOf<WorkflowOutput<typeof direct>>().toEqualTypeOf<{
      orderId: string;
      cents?: number | undefined;
    }>();
    expectTypeOf(direct.name).toEqualTypeOf<"direct">();
    expect(workflowFacts(direct).begin("same")).toBe("same");
  });

  it("WF-01 ask for begin and end exactly where they are needed", () => {
    const input = z.object({ id: z.string() });
    const output = z.object({ total: z.int() });
    // @ts-expect-error the input is not what the flow starts from
    defineWorkflow({ name: "a", version: "1", input, flow: built });
    // @ts-expect-error what begin gives is not what the flow starts from
    defineWorkflow({ name: "a", version: "1", input, flow: built, begin: ({ id }) => ({ id }) });
    // @ts-expect-error the state is not what the output schema takes
    defineWorkflow({ name: "a", version: "1", input: State, output, flow: built });
    const both = defineWorkflow({
      name: "both",
      version: "1",
      input,
      output,
      flow: built,
      begin: ({ id }) => ({ orderId: id }),
      end: ({ cents }) => ({ total: cents ?? 0 }),
    });
    expect(workflowFacts(both).begin({ id: "A" })).toEqual({ orderId: "A" });
    expect(workflowFacts(both).end({ cents: 5 })).toEqual({ total: 5 });
  });

  it("WF-01 refuse a wrong name, input or payload where they are used", () => {
    const desk = new Workflows({
      store: storesOn({ approvals: memoryHome(), log: memoryHome(), runs: memoryHome() }),
      definitions: [direct, definition("other", "1")],
      keyring: keyringOf(new Uint8Array(32)),
    });
    const uses = [
      // @ts-expect-error a number where a text is due
      () => desk.start(direct, { orderId: 7 }),
      // @ts-expect-error a payload that the resume schema does not take
      () => desk.resume(direct, "run-1", { ok: "yes" }),
    ];
    expect(uses).toHaveLength(2);
  });
});
