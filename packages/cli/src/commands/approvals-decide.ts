/**
 * Saying yes or no. What is recorded here is taken up by whoever runs the workflows: nothing of a run is executed by this program.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import * as approvals from "@holdpoint/approvals";

import type { Command, ExitCode, OptionSpec } from "../command.ts";
import type { Desk } from "../desk.ts";
import { CliError } from "../errors.ts";
import type { Given } from "../given.ts";
import type { Output } from "../output.ts";
import { notFound } from "./approvals-show.ts";

const decideOptions: Readonly<Record<string, OptionSpec>> = {
  note: { value: "TEXT", summary: "kept with the decision" },
  digest: { value: "TEXT", summary: "decide only where the arguments are those of this digest" },
};

export const approve: Command = {
  path: "approvals approve",
  summary: "say yes, as the person that the config's `identity` names",
  operands: ["ID"],
  options: {
    ...decideOptions,
    edits: { value: "FILE", summary: "JSON of other arguments that it may run with" },
  },
  async run(desk, given, output) {
    const by = await desk.person();
    const edited = await editsOf(desk, given);
    const decision = approvals.approve({ by, ...noteOf(given), ...(edited && { edited }) });
    return decided(desk, given, output, decision);
  },
};

export const deny: Command = {
  path: "approvals deny",
  summary: "say no, as the person that the config's `identity` names",
  operands: ["ID"],
  options: {
    ...decideOptions,
    "for-run": { summary: "and to the same call for the rest of its run" },
  },
  async run(desk, given, output) {
    const by = await desk.person();
    const forRun = given.flag("for-run");
    return decided(desk, given, output, approvals.deny({ by, ...noteOf(given), forRun }));
  },
};

function noteOf(given: Given): { readonly note?: string } {
  const note = given.text("note");
  return note === undefined ? {} : { note };
}

async function editsOf(desk: Desk, given: Given): Promise<approvals.Edited | undefined> {
  const file = given.text("edits");
  if (file === undefined) return undefined;
  const view = await (await desk.records()).show(desk.scope, given.operand(0));
  if (view === undefined) throw notFound(given.operand(0));
  try {
    return approvals.editedArguments(view.tool, JSON.parse(await readFile(resolve(desk.folder, file), "utf8"))); // prettier-ignore
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : "";
    throw new CliError("file-unusable", `${file} can't be read as JSON: ${said}`, { file }, cause);
  }
}

async function decided(
  desk: Desk,
  given: Given,
  output: Output,
  decision: approvals.Decision,
): Promise<ExitCode> {
  const id = given.operand(0);
  const argumentsDigest = given.text("digest");
  const records = await desk.records();
  const how = { scope: desk.scope, id, decision, ...(argumentsDigest && { argumentsDigest }) };
  const result = await records.decide(how);
  output.say({ id, ...result }, () => [sentenceOf(id, result)]);
  return 0;
}

function sentenceOf(id: string, result: approvals.DecideResult): string {
  switch (result.status) {
    case "decided":
      return `${id} is ${result.decision.approved ? "approved" : "denied"}: whoever runs its workflow takes that up`;
    case "already":
      return `${id} is ${result.decision.approved ? "approved" : "denied"} already, by the same person: nothing was changed`;
    case "open":
      return `your vote on ${id} is kept; it waits for ${result.missing} more`;
    case "superseded":
      return `the edit needs somebody else: ${result.by} waits in the place of ${id}`;
  }
}
