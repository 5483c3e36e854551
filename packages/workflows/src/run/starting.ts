/**
 * Starting: on record before anything executes (WF-12, WF-31).
 *
 * S1 The run's first row and its start key are one commit: whoever is refused reads who was first.
 * S2 The same key is for the same input: compared by digest of the canonical form as it was given.
 */

import { assertActor, isId, type Actor, type ActorRef } from "@holdpoint/approvals";
import { digestText, isSealError } from "@holdpoint/seal";

import { checkValue, type Checked } from "../definition/boundary.ts";
import type { Workflow } from "../definition/define.ts";
import { workflowFacts } from "../definition/facts.ts";
import {
  InvalidInputError,
  SessionOwnedError,
  StartKeyTakenError,
  WorkflowError,
} from "../errors.ts";
import type { OpenRun } from "../registry/record-codec.ts";
import { pendingRun, type RunFacts } from "../registry/record.ts";
import { runKeyWrite } from "../registry/store.ts";
import type { Parts } from "./parts.ts";
import { workOn } from "./work.ts";

export interface StartOptions {
  /** Makes starting repeatable: an id of the caller's, up to 200 characters, per scope and definition. */
  readonly key?: string;
  /** Who asked for the run: sealed with it, for rules that exclude the requester. */
  readonly requestedBy?: Actor;
  /** The run that it is begun for: one of the same scope that is on record. It is shown, and moves nothing. */
  readonly parent?: string;
}

/** A run on record, and whether this call put it there. */
export interface Seeded {
  readonly opened: OpenRun;
  readonly fresh: boolean;
}

/** @throws InvalidInputError; StartKeyTakenError; WorkflowError `option-invalid`, `run-not-found`, `store-unavailable` */
export async function seedRun(
  parts: Parts,
  definition: Workflow,
  input: unknown,
  options: StartOptions,
): Promise<Seeded> {
  const { key, requestedBy, parent } = options;
  if (key !== undefined && !isId(key)) {
    throw new WorkflowError("option-invalid", "a start key is an id of up to 200 characters");
  }
  if (requestedBy !== undefined) assertActor(requestedBy);
  const how = workflowFacts(definition);
  const checked = await checkValue("input", how.input, input, how.limits);
  const facts = factsOf(parts, definition, checked, options);
  const standing = key === undefined ? undefined : await parts.access.started(definition.name, key);
  if (standing !== undefined) return { opened: sameInput(standing, facts), fresh: false };
  if (parent !== undefined) await parts.access.require(parent);
  const record = pendingRun(facts);
  const { access } = parts;
  const known = await access.commit([
    access.write(record, 0),
    ...(key === undefined ? [] : [runKeyWrite(access.scope, definition.name, key, facts.id)]), // S1
  ]);
  if (known.status === "done") return { opened: { record, version: 1 }, fresh: true };
  const first = key === undefined ? undefined : await access.started(definition.name, key);
  if (first !== undefined) return { opened: sameInput(first, facts), fresh: false };
  const { because } = known.refusal;
  if (known.refusal.because === "fenced") {
    throw new SessionOwnedError(parts.session ?? "", known.refusal.epoch);
  }
  const message = `the registry did not take run ${facts.id}: ${because}`;
  throw new WorkflowError("run-moved", message, { runId: facts.id, because });
}

/** Has a run that is on record executed, in its lane. */
export function execute(parts: Parts, runId: string): void {
  const work = parts.lanes.enter(runId, async (signal) => {
    const opened = await parts.access.require(runId);
    if (opened.record.standing.status !== "pending") return; // cancelled, or taken up, before its turn
    await workOn(parts, opened, "start", signal);
  });
  work.catch((fault: unknown) => parts.faults.put(runId, fault));
}

function factsOf(
  parts: Parts,
  definition: Workflow,
  { value, canonical }: Checked,
  { key, requestedBy, parent }: StartOptions,
): RunFacts {
  return {
    id: `run-${parts.newId()}`,
    scope: parts.access.scope,
    session: parts.session,
    definition: definition.name,
    version: definition.version,
    parent,
    startedBy: requestedBy && refOf(requestedBy),
    startKey: key,
    inputDigest: digestText(canonical),
    input: sealedInput(parts, value),
    createdAt: parts.clock.now(),
  };
}

function sealedInput({ sealer }: Parts, value: unknown): string {
  try {
    return sealer.encode(value);
  } catch (cause) {
    if (!isSealError(cause)) throw cause;
    const issue = { path: cause.path ?? "", message: cause.found ?? "it can't be sealed" };
    throw new InvalidInputError("input", [issue], cause);
  }
}

function refOf({ id, assurance, roles }: ActorRef): ActorRef {
  return roles === undefined ? { id, assurance } : { id, assurance, roles: [...roles] };
}

/** S2 */
function sameInput(opened: OpenRun, { inputDigest, definition, startKey }: RunFacts): OpenRun {
  const { facts } = opened.record;
  if (facts.inputDigest === inputDigest) return opened;
  throw new StartKeyTakenError(
    "start-key-taken",
    `the start key '${startKey}' of '${definition}' began run ${facts.id} with another input`,
    { runId: facts.id, definition },
  );
}
