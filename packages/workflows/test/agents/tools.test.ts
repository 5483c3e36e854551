import { flow } from "@holdpoint/flow";
import { Executor, type AnyTool, type Schema } from "@holdpoint/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { agentTools } from "../../src/agents.ts";
import { defineWorkflow } from "../../src/index.ts";
import { rest } from "../timed-clock.ts";
import { desks } from "../supervisor/desks.ts";

/** The tools of a desk, as an agent's loop calls them: by name, with whatever the model wrote. */
async function toolsOf() {
  const world = desks();
  const desk = await world.activated();
  const tools = agentTools(desk, { session: "desk" });
  const executor = new Executor();
  const call = async (name: string, args: unknown): Promise<Record<string, unknown>> => {
    const tool = tools.find((each) => each.name === name) as AnyTool;
    return (await executor.call(tool, args as never)) as Record<string, unknown>;
  };
  return { ...world, desk, tools, call };
}

const start = { definition_name: "refund", definition_version: "1", input: { orderId: "A-17" } };

describe("the tools for agents", () => {
  it("WF-40 list definitions, start, get, list, cancel and read the history of runs", async () => {
    const { call, desk } = await toolsOf();
    const { definitions, truncated } = await call("workflow_definition_list", {});
    expect(definitions).toMatchObject([
      { name: "refund", version: "1", resume_supported: false, input_schema: { type: "object" } },
    ]);
    expect(truncated).toBe(false);
    const started = await call("workflow_run_start", { ...start, key: "k" });
    const { run_id } = started;
    expect(started).toMatchObject({ run_status: "pending", definition_name: "refund" });
    expect((await call("workflow_run_start", { ...start, key: "k" }))["run_id"]).toBe(run_id);
    await desk.settled(String(run_id));
    expect(await call("workflow_run_get", { run_id })).toMatchObject({
      run_status: "interrupted",
      waits_for: [{ kind: "approval", tool: "node:refund.review" }],
      status_summary: "waits for 1 answers of people",
    });
    const history = await call("workflow_run_history", { run_id, limit: 3 });
    const { next_event_id, next_revision } = history;
    expect([next_event_id, next_revision]).toEqual([`${String(run_id)}/3`, 3]);
    const page = await call("workflow_run_history", { run_id, after_event_id: next_event_id });
    const entries = page["entries"] as { readonly revision: number; readonly type: string }[];
    expect(entries[0]).toMatchObject({ revision: 4 });
    expect(entries.at(-1)).toMatchObject({ type: "paused", text: "paused" });
    const cancel = () => call("workflow_run_cancel", { run_id, reason: "no" });
    expect(await cancel()).toEqual({ run_id, status: "final", idempotent: false });
    expect(await cancel()).toEqual({ run_id, status: "final", idempotent: true });
    expect((await call("workflow_run_get", { run_id }))["run_status"]).toBe("cancelled");
  });

  it("WF-40 are seven, each with a short description, and show a run's whole metadata", async () => {
    const { tools, call, desk } = await toolsOf();
    expect(tools.map(({ name }) => name)).toEqual([
      "workflow_definition_list",
      "workflow_run_start",
      "workflow_run_get",
      "workflow_run_list",
      "workflow_run_resume",
      "workflow_run_cancel",
      "workflow_run_history",
    ]);
    expect(tools.filter(({ description }) => description.length > 256)).toEqual([]);
    const parent = await call("workflow_run_start", start);
    const parent_run_id = String(parent["run_id"]);
    await desk.settled(parent_run_id);
    const child = await call("workflow_run_start", { ...start, parent_run_id });
    const view = await desk.settled(String(child["run_id"]));
    expect(await call("workflow_run_get", { run_id: child["run_id"] })).toEqual({
      run_id: child["run_id"],
      definition_name: "refund",
      definition_version: "1",
      run_status: "interrupted",
      status_summary: "waits for 1 answers of people",
      checkpoint_revision: view.revision,
      activity_cursor: `${view.runId}/${view.revision}`,
      parent_run_id,
      waits_for: [{ kind: "approval", tool: "node:refund.review" }],
      created: new Date(view.createdAt).toISOString(),
      updated: new Date(view.updatedAt).toISOString(),
    });
    const history = await desk.history(view.runId, { limit: 100 });
    expect(history.at(-1)?.id).toBe(`${view.runId}/${view.revision}`);
  });

  it("WF-40 list a definition that can't be described, and a hundred of many", async () => {
    const { openOf } = desks();
    const odd: Schema<{ n: number }> = {
      "~standard": { version: 1, vendor: "own", validate: () => ({ value: { n: 1 } }) },
    };
    const built = flow("f", z.object({ n: z.number() }))
      .node("a", () => {})
      .build();
    const many = Array.from({ length: 101 }, (_, at) =>
      defineWorkflow({ name: "odd", version: `${at}`, input: odd, flow: built }),
    );
    const [list] = agentTools(openOf(many), { session: "desk" });
    const told = (await new Executor().call(list as AnyTool, {} as never)) as {
      readonly definitions: readonly unknown[];
      readonly truncated: boolean;
    };
    expect([told.definitions.length, told.truncated]).toEqual([100, true]);
    expect(told.definitions[0]).toMatchObject({ name: "odd", input_schema: {} });
  });

  it("WF-40 page by cursors that are theirs alone, a hundred at most", async () => {
    const { call, desk } = await toolsOf();
    for (let at = 0; at < 5; at += 1) await desk.start("refund", { orderId: `A-${at}` });
    await rest();
    const seen: unknown[] = [];
    let after: unknown;
    do {
      const page = await call("workflow_run_list", {
        limit: 2,
        ...(after !== undefined && { after }),
      });
      seen.push(...(page["runs"] as { readonly run_id: string }[]).map(({ run_id }) => run_id));
      after = page["next"];
    } while (after !== undefined);
    expect(new Set(seen).size).toBe(5);
    for (const wrong of [
      { limit: 101 },
      { limit: 0 },
      { limit: 1, after: "forged" },
      { all: true },
    ]) {
      await expect(call("workflow_run_list", wrong)).rejects.toBeInstanceOf(Error);
    }
  });

  it("WF-40 R120 refuse what no schema has, before anything is on record", async () => {
    const { call, home } = await toolsOf();
    const wrong: readonly unknown[] = [
      { ...start, session: "night" },
      { ...start, input: { orderId: "A-17", approved: true } },
      { ...start, input: { orderId: 17 } },
      { ...start, input: { orderId: "x".repeat(1_000_000) } },
      { ...start, definition_version: "2" },
      { ...start, input: "A-17" },
      { definition_name: "refund", input: {} },
    ];
    for (const args of wrong) {
      await expect(call("workflow_run_start", args)).rejects.toBeInstanceOf(Error);
    }
    expect(home.rows("runs", "default")).toEqual([]);
  });

  it("WF-40 R120 find no run of another session, by any of them", async () => {
    const { call, activated } = await toolsOf();
    const other = await activated({ session: "night" });
    const { runId: run_id } = await other.start("refund", { orderId: "B-1" });
    await other.settled(run_id);
    const child = call("workflow_run_start", { ...start, parent_run_id: run_id });
    await expect(child).rejects.toThrow(/there is no run/);
    for (const name of ["get", "history", "cancel"]) {
      await expect(call(`workflow_run_${name}`, { run_id })).rejects.toThrow(/there is no run/);
    }
    await expect(call("workflow_run_resume", { run_id, resume: {} })).rejects.toThrow(/no run/);
    expect((await call("workflow_run_list", {}))["runs"]).toEqual([]);
    expect((await other.get(run_id))?.status).toBe("interrupted");
  });

  it("WF-41 R120 decide no approvals: whatever a model answers, a person is needed", async () => {
    const { call, tools, desk, effects } = await toolsOf();
    const { runId: run_id } = await desk.start("refund", { orderId: "A-17" });
    const waiting = await desk.settled(run_id);
    const answers = [{}, { approved: true }, { [waiting.waitsFor[0]!.id]: { approve: true } }];
    for (const resume of answers) {
      await expect(call("workflow_run_resume", { run_id, resume })).rejects.toThrow(
        /a person has to give/,
      );
    }
    expect(tools.map(({ name }) => name).filter((name) => /decide|approve/.test(name))).toEqual([]);
    expect(await desk.get(run_id)).toEqual(waiting);
    expect(effects.paid).toEqual([]);
  });

  it("WF-40 answer with nothing that the model did not bring along, and bounded", async () => {
    const { call, desk } = await toolsOf();
    const { runId: run_id } = await desk.start("refund", { orderId: "SECRET-17" });
    await desk.settled(run_id);
    const told = [
      await call("workflow_run_get", { run_id }),
      await call("workflow_run_list", {}),
      await call("workflow_run_history", { run_id }),
    ];
    const text = JSON.stringify(told);
    for (const hidden of ["SECRET-17", "20000", "20_000", '"desk"'])
      expect(text).not.toContain(hidden);
    expect(text.length).toBeLessThan(10_000);
  });
});
