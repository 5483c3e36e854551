/**
 * A supervisor as tools for a model (WF-40, WF-41).
 *
 * G1 They act in one session: a run of another one is not found, by whatever id it is asked for (CASE-150).
 * G2 They decide no approvals and answer no question that is for people: a model can't approve its own call. What it starts is
 *    approved by whoever the flow asks.
 * G3 Inputs are closed objects, checked before the supervisor is called; what comes back is bounded, and holds nothing that the
 *    model did not bring along.
 */

import { defineTool, type AnyTool } from "@holdpoint/tools";
import * as z from "zod";

import type { Workflow } from "../definition/define.ts";
import { isWorkflowError, WorkflowError } from "../errors.ts";
import { reasonCharactersMax, toolDefinitionsMax, toolPageMax } from "../limits.ts";
import { isTerminal } from "../registry/moves.ts";
import type { RunView } from "../registry/run-view.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import { entryOf, HistoryEntry, metadataOf, RunMetadata } from "./metadata.ts";

/** What the tools need of a supervisor. */
export type SupervisorForAgents = Pick<
  Supervisor,
  "definitions" | "start" | "get" | "list" | "resume" | "cancel" | "history"
>;

export interface AgentToolsOptions {
  /** The one session that they act in. */
  readonly session: string;
}

const runId = z.string().min(1).max(200);
const limit = z.int().min(1).max(toolPageMax).default(50);

/** All seven, for an executor or an agent's list of tools. */
export function agentTools(
  desk: SupervisorForAgents,
  { session }: AgentToolsOptions,
): readonly AnyTool[] {
  const own = (id: string): Promise<RunView> => ownRun(desk, session, id);
  return [
    definitionList(desk),
    runStart(desk, session, own),
    defineTool({
      name: "workflow_run_get",
      description: "Reads where a workflow's run stands.",
      input: z.strictObject({ run_id: runId }),
      output: RunMetadata,
      execute: async ({ run_id }) => metadataOf(await own(run_id)),
    }),
    runList(desk, session),
    runResume(desk, own),
    runCancel(desk, own),
    runHistory(desk, own),
  ];
}

function definitionList({ definitions }: SupervisorForAgents): AnyTool {
  const Definition = z.strictObject({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    input_schema: z.record(z.string(), z.unknown()),
    resume_supported: z.boolean(),
  });
  return defineTool({
    name: "workflow_definition_list",
    description: "Lists the workflows that can be started, with the schemas of their inputs.",
    input: z.strictObject({}),
    output: z.strictObject({ definitions: z.array(Definition), truncated: z.boolean() }),
    execute: () => ({
      definitions: definitions.slice(0, toolDefinitionsMax).map((definition) => ({
        name: definition.name,
        version: definition.version,
        description: definition.description ?? "",
        input_schema: schemaOf(definition),
        resume_supported: definition.takesPayload,
      })),
      truncated: definitions.length > toolDefinitionsMax,
    }),
  });
}

/** One that can't be described keeps no other from being listed: its own check stands before its runs all the same. */
function schemaOf(definition: Workflow): Record<string, unknown> {
  try {
    return definition.inputJsonSchema() as Record<string, unknown>;
  } catch (error) {
    if (isWorkflowError(error, "schema-not-describable")) return {};
    throw error;
  }
}

function runStart(
  desk: SupervisorForAgents,
  session: string,
  own: (id: string) => Promise<RunView>,
): AnyTool {
  return defineTool({
    name: "workflow_run_start",
    description:
      "Starts a run of a workflow; answers once it is on record. The same key with the same input is the same run.",
    input: z.strictObject({
      definition_name: z.string().max(64),
      definition_version: z.string().max(64),
      input: z.record(z.string(), z.unknown()),
      key: z.string().min(1).max(200).optional(),
      parent_run_id: runId.optional(),
    }),
    output: RunMetadata,
    execute: async ({ definition_name, definition_version, input, key, parent_run_id }) => {
      const definition = exactly(desk.definitions, definition_name, definition_version);
      if (parent_run_id !== undefined) await own(parent_run_id); // G1
      const parent = parent_run_id === undefined ? {} : { parent: parent_run_id };
      const how = { session, ...parent, ...(key !== undefined && { key }) };
      return metadataOf(await desk.start(definition, input as never, how)); // its schema decides
    },
  });
}

function runList(desk: SupervisorForAgents, session: string): AnyTool {
  return defineTool({
    name: "workflow_run_list",
    description:
      "Lists runs, the newest first; `next` of a page is the `after` of the one behind it.",
    input: z.strictObject({ after: z.string().max(2_000).optional(), limit }),
    output: z.strictObject({ runs: z.array(RunMetadata), next: z.string().optional() }),
    execute: async ({ after, limit: max }) => {
      const from = after === undefined ? {} : { cursor: after };
      const page = await desk.list({ filter: { session }, limit: max, ...from });
      const next = page.cursor === undefined ? {} : { next: page.cursor };
      return { runs: page.items.map(metadataOf), ...next };
    },
  });
}

function runResume(desk: SupervisorForAgents, own: (id: string) => Promise<RunView>): AnyTool {
  return defineTool({
    name: "workflow_run_resume",
    description:
      "Answers a question of a run that is open to anyone; `interrupt` names it where several wait. Approvals need a person.",
    input: z.strictObject({
      run_id: runId,
      resume: z.record(z.string(), z.unknown()),
      interrupt: z.string().max(200).optional(),
    }),
    output: RunMetadata,
    execute: async ({ run_id, resume, interrupt }) => {
      const { definition, version, status, waitsFor } = await own(run_id);
      // G2: said before the payload is looked at, so that no payload seems to be the right one
      if (status === "interrupted" && !waitsFor.some(({ answerBy }) => answerBy === "anyone")) {
        const message = `run ${run_id} waits for ${waitsFor.length} answers that a person has to give`;
        throw new WorkflowError("needs-a-person", message, { runId: run_id });
      }
      const exact = exactly(desk.definitions, definition, version);
      const how = { openTo: "anyone", ...(interrupt !== undefined && { interrupt }) } as const;
      await desk.resume(exact, run_id, resume as never, how); // its schemas decide
      return metadataOf(await own(run_id));
    },
  });
}

function runCancel(desk: SupervisorForAgents, own: (id: string) => Promise<RunView>): AnyTool {
  return defineTool({
    name: "workflow_run_cancel",
    description: "Ends a run: at once where it waits, as soon as it stops where it is at work.",
    input: z.strictObject({
      run_id: runId,
      reason: z.string().max(reasonCharactersMax).default(""),
    }),
    output: z.strictObject({
      run_id: z.string(),
      status: z.enum(["requested", "final"]),
      /** Whether it had ended, or was being cancelled, before. */
      idempotent: z.boolean(),
    }),
    idempotent: true,
    execute: async ({ run_id, reason }) => {
      const before = await own(run_id);
      const { status } = await desk.cancel(run_id, { reason });
      return { run_id, status, idempotent: before.cancelRequested || isTerminal(before.status) };
    },
  });
}

function runHistory(desk: SupervisorForAgents, own: (id: string) => Promise<RunView>): AnyTool {
  return defineTool({
    name: "workflow_run_history",
    description: "Reads what happened to a run, in order, after a revision or an event.",
    input: z.strictObject({
      run_id: runId,
      after_revision: z.int().min(0).optional(),
      after_event_id: z.string().max(400).optional(),
      limit,
    }),
    output: z.strictObject({
      entries: z.array(HistoryEntry),
      next_revision: z.int(),
      next_event_id: z.string().optional(),
    }),
    execute: async ({ run_id, after_revision, after_event_id, limit: max }) => {
      await own(run_id);
      const after = after_event_id ?? after_revision ?? 0;
      const entries = (await desk.history(run_id, { after, limit: max })).map(entryOf);
      const last = entries.at(-1);
      return {
        entries,
        next_revision: last?.revision ?? after_revision ?? 0,
        ...(last !== undefined && { next_event_id: last.event_id }),
      };
    },
  });
}

/** G1 */
async function ownRun(desk: SupervisorForAgents, session: string, id: string): Promise<RunView> {
  const view = await desk.get(id);
  if (view?.session === session) return view;
  throw new WorkflowError("run-not-found", `there is no run ${id}`, { runId: id });
}

function exactly(definitions: readonly Workflow[], name: string, version: string): Workflow {
  const found = definitions.find((each) => each.name === name && each.version === version);
  if (found !== undefined) return found;
  const message = `there is no definition '${name}' of version ${version} here`;
  throw new WorkflowError("unknown-definition", message, { definition: name, version });
}
