/** What has to hold once a world has come to its end. */
import { canonicalize } from "@holdpoint/seal";
import { FlowRunner } from "@holdpoint/flow";

import type { LogBook } from "./books/log-book.ts";
import { scope } from "./desk.ts";
import { flowsDoing } from "./flows/flows.ts";
import { keyring } from "./keyring.ts";
import { undisturbed } from "./oracle.ts";
import type { FlowName } from "./profile.ts";
import { never } from "./schedule.ts";
import type { World } from "./world.ts";

const { flows } = flowsDoing(() => never());

export async function finalFaults(world: World): Promise<readonly string[]> {
  const faults = [...world.acknowledged.check(), ...(await trails(world))];
  for (const log of world.book.logs.values()) faults.push(...(await ends(world, log)));
  return faults;
}

/** I9, I11: nothing is left pending, and every trail is whole. */
async function trails(world: World): Promise<readonly string[]> {
  const { book, records } = world;
  const faults: string[] = [];
  for (const { key, values } of book.approvals.values()) {
    const { status } = await records.verifyAudit(scope, key);
    if (status !== "whole") faults.push(`the trail of approval ${key} is ${status}`);
    const log = book.log(String(values["runId"]));
    if (values["state"] !== "consumed" && log.ended && !mayBeLeft(world, log))
      faults.push(`approval ${key} is ${values["state"]}, and its run is ${log.status}`);
    const view = await records.show(scope, key);
    if (view?.state !== "consumed") continue;
    const spent = [...log.answers.values()].find(
      ({ answer: { approvalId, decision } }) =>
        approvalId !== undefined && decision.approved && book.standingFor(approvalId) === key,
    );
    if (spent !== undefined && spent.attemptId !== view.attemptId)
      faults.push(`approval ${key} says that another attempt consumed it`);
    if (
      log.status === "completed" &&
      world.profile.layout === "together" &&
      view.decision?.approved === true &&
      view.outcome === undefined
    )
      faults.push(`approval ${key} was spent, and nobody says what for`);
  }
  return faults;
}

/**
 * Where processes work on one run without leases, or without a fence in the approvals' database, the one that loses may have
 * asked for something by then; and a runner alone knows of no question that is not in its log.
 */
function mayBeLeft({ profile }: World, { status }: LogBook): boolean {
  if (profile.mode === "supervisor") return profile.layout === "apart" && profile.processes > 1;
  return profile.processes > 1 || (profile.mode === "runner" && status === "cancelled");
}

/** I12 */
async function ends(world: World, log: LogBook): Promise<readonly string[]> {
  const { runId } = log;
  const id = world.callerIdOf(runId);
  const flow = id.split("-")[0] as FlowName;
  const faults: string[] = [];
  const fault = (what: string): unknown => faults.push(`run ${runId} (${id}): ${what}`);
  const oracle = await undisturbed(log, { flow, id });
  const done = world.effects.of(runId);
  const more = done.filter((act) => !oracle.acts.includes(act));
  if (more.length > 0) fault(`did what the undisturbed run does not: ${more.join("; ")}`);
  if (log.status !== "completed" && log.status !== "failed") return faults;
  if (log.status !== oracle.status)
    fault(`is ${log.status}; undisturbed it is ${oracle.status} ${oracle.failure ?? ""}`);
  const less = oracle.acts.filter((act) => !done.includes(act));
  if (less.length > 0) fault(`did not do what the undisturbed run does: ${less.join("; ")}`);
  if (log.status === "completed") {
    const runner = new FlowRunner({ log: world.stores.log, keyring, approvals: world.port });
    const result = await runner.adopt(flows[flow], runId);
    const state = result.status === "completed" ? result.state : undefined;
    if (canonicalize(state) !== canonicalize(oracle.state))
      fault(`ended in ${JSON.stringify(state)}; undisturbed in ${JSON.stringify(oracle.state)}`);
  }
  return faults;
}
