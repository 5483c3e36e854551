// Edited and recorded arguments, wherever they are handed to a caller: read by name, and in nothing that is printed or copied.
import { inspect } from "node:util";

import { decode, encode, isSealError } from "@holdpoint/seal";
import { afterEach, describe, expect, it } from "vitest";

import {
  ApprovalAlreadyDecided,
  approve,
  askApproval,
  editedArguments,
  sealableDecision,
  type DecisionRecord,
  type EditPort,
} from "../src/index.ts";
import { file, handClock, how, no, person, requestFor, scope, world } from "./world.ts";

const canary = "canary-51c0";
const args = { card: canary };
const edits: EditPort = {
  validate: ({ arguments: edited }) => ({ status: "valid", arguments: edited }),
};
const edit = async () =>
  approve({ by: await person("dana"), edited: editedArguments("issue_refund", args) });

/** Every form in which a value leaves its process without being asked for by name. */
function forms(value: unknown): string[] {
  const copy: unknown = structuredClone(value);
  return [
    JSON.stringify(value) ?? "",
    JSON.stringify(copy) ?? "",
    inspect(value, { depth: Infinity }),
    inspect(value, { depth: Infinity, showHidden: true }),
    inspect(copy, { depth: Infinity, showHidden: true }),
  ];
}

/** The forms of these values that show the canary. */
function leaksOf(...values: readonly unknown[]): string[] {
  return values.flatMap(forms).filter((form) => form.includes(canary));
}

/** What a caller reads in a decision by name, and what it and its holder show unasked. */
const seenIn = (holder: unknown, decision: DecisionRecord) => ({
  read: decision.edited?.arguments,
  leaks: leaksOf(holder, decision),
});
const hidden = { read: args, leaks: [] };

describe("edited arguments", () => {
  it("APR-02 R059 are in no copy and no printed form of what decide answers, now or again", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decided = await here.records.decide({ scope, id, decision: await edit() });
    if (decided.status !== "decided") throw new Error(decided.status);
    expect(seenIn(decided, decided.decision)).toEqual(hidden);
    const again = await here.records.decide({ scope, id, decision: await edit() });
    if (again.status !== "already") throw new Error(again.status);
    expect(seenIn(again, again.decision)).toEqual(hidden);
  });

  it("APR-02 R059 are in no copy and no printed form of a plan, a reading or a port's answer", async () => {
    const here = world({ edits });
    const id = await file(here);
    const { argumentsDigest } = requestFor();
    const settling = { scope, id, attemptId: "one", argumentsDigest };
    const ready = await here.records.settle({ ...settling, decision: await edit() });
    if (ready.status !== "ready") throw new Error(ready.status);
    expect(seenIn({ ...ready, writes: [] }, ready.decision)).toEqual(hidden);
    await here.records.decide({ scope, id, decision: await edit() });
    const answer = await here.port.request(requestFor(), how());
    if (answer.status !== "decided") throw new Error(answer.status);
    expect(seenIn(answer, answer.decision)).toEqual(hidden);
    const stands = await here.records.settle({ ...settling, decision: await no("erik") });
    if (stands.status !== "stands") throw new Error(stands.status);
    expect(seenIn(stands, stands.decision)).toEqual(hidden);
    const read = await here.records.read(scope, id);
    if (read?.state !== "decided") throw new Error(read?.state);
    expect(seenIn(read, read.decision)).toEqual(hidden);
  });

  it("APR-02 R059 are in no copy and no printed form of an answer that was given at once", async () => {
    const port = askApproval(edit, { edits, clock: handClock(0) });
    const answer = await port.request(requestFor({}, { requestedAt: 0 }), how());
    if (answer.status !== "decided") throw new Error(answer.status);
    expect(seenIn(answer, answer.decision)).toEqual(hidden);
  });

  it("APR-20 R059 are in no copy and no printed form of the refusal that tells what stands", async () => {
    const here = world({ edits });
    const id = await file(here);
    await here.records.decide({ scope, id, decision: await edit() });
    const refused = here.records.decide({ scope, id, decision: await no("erik") });
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    if (!(error instanceof ApprovalAlreadyDecided)) throw error;
    expect(seenIn(error, error.decision)).toEqual(hidden);
    const plain = { approved: true, by: error.decision.by, at: 1, edited: { arguments: args } };
    const made = new ApprovalAlreadyDecided(id, plain); // as a runner makes it from its journal
    expect(seenIn(made, made.decision)).toEqual(hidden);
  });

  it("APR-12 R059 stay hidden where an earlier asking's arguments are handed back", async () => {
    const here = world();
    await file(here, { arguments: args });
    const answer = await here.port.request(
      requestFor({ arguments: { card: "another" } }, { id: "apr-2" }),
      how(),
    );
    expect(answer.recorded?.arguments).toEqual(args);
    expect(leaksOf(answer)).toEqual([]);
  });

  it("APR-16 survive a spread, and a copy that lost them still says that there was an edit", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decided = await here.records.decide({ scope, id, decision: await edit() });
    if (decided.status !== "decided") throw new Error(decided.status);
    expect({ ...decided.decision }.edited?.arguments).toEqual(args);
    const copy = structuredClone(decided.decision);
    expect(copy.edited).toEqual({});
  });
});

describe("a decision for a journal", () => {
  afterEach(() => {
    Reflect.deleteProperty(Object.prototype, "edited");
  });

  it("APR-16 seals with its edit, and is refused as it was handed out", async () => {
    const here = world({ edits });
    const id = await file(here);
    const decided = await here.records.decide({ scope, id, decision: await edit() });
    if (decided.status !== "decided") throw new Error(decided.status);
    const refusal = (() => {
      try {
        return encode(decided.decision);
      } catch (error) {
        return error;
      }
    })();
    expect(isSealError(refusal, "state-not-sealable")).toBe(true);
    expect(decode(encode(sealableDecision(decided.decision)))).toMatchObject({
      approved: true,
      edited: { arguments: args },
    });
  });

  it("APR-20 takes no edit from Object.prototype", async () => {
    const here = world();
    const id = await file(here);
    const decided = await here.records.decide({ scope, id, decision: await no("dana") });
    if (decided.status !== "decided") throw new Error(decided.status);
    Object.defineProperty(Object.prototype, "edited", {
      value: { arguments: args },
      configurable: true,
    });
    expect(Object.hasOwn(sealableDecision(decided.decision), "edited")).toBe(false);
    const refused = new ApprovalAlreadyDecided(id, decided.decision);
    expect(Object.hasOwn(refused.decision, "edited")).toBe(false);
  });
});
