/**
 * Which of the places where a run is written a commit holds, by the names of the threat model: W1 seed, W2 first entry, W3
 * intent, W5 result, W7 record, W8 paused, W9 registry waits, W10 what is to be told (and `/taken`, `/done` by whoever tells
 * it), W11 decided, W12 its audit entry, W13 attempt announced, W14 spent with the answer, W15 spent in a store of its own, W16
 * withdrawn, W17 node finished, W18 end, W19 registry ended, W20 a session taken, W21 a wish to cancel, W22 a time that ran out.
 */
import type { CommitOutcome, Write } from "@holdpoint/approvals";
import { logKey } from "@holdpoint/flow";
import { verify, type Keyring } from "@holdpoint/seal";

import type { Dying } from "./dying.ts";
import { onceOnly } from "./effects.ts";

const byEvent: Readonly<Record<string, string>> = {
  "run-started": "W2",
  "call-started": "W3",
  "call-finished": "W5",
  "step-recorded": "W5",
  paused: "W8",
  settling: "W13",
  answered: "W14",
  "deadline-fired": "W22",
  superseded: "W16",
  "visit-finished": "W17",
  completed: "W18",
  failed: "W18",
  cancelled: "W18",
};

const byRunStatus: Readonly<Record<string, string>> = {
  pending: "W1",
  interrupted: "W9",
  completed: "W19",
  failed: "W19",
  cancelled: "W19",
};

/** The write points of one commit, in order; a commit of none of them is `other`. */
function writePointsOf(writes: readonly Write[], keyring: Keyring): readonly string[] {
  const found = new Set<string>();
  const logged = writes.some(({ statement }) => statement === "log.append");
  for (const write of writes) {
    const point = pointOf(write, keyring, logged);
    if (point !== undefined) found.add(point);
  }
  if (found.has("W11")) found.add("W12"); // one commit
  return found.size === 0 ? ["other"] : [...found];
}

function pointOf(write: Write, keyring: Keyring, logged: boolean): string | undefined {
  const { statement, values, expect } = write;
  switch (statement) {
    case "runs.put":
      return runPoint(write, keyring);
    case "log.append":
      return logPoint(write, keyring);
    case "outbox.put":
      if (values["state"] === "done") return "W10/done";
      return expect === "any" ? "W10" : "W10/taken";
    case "leases.put":
      // One that is lengthened or given back goes under its own fence.
      return write.fence === undefined ? "W20" : undefined;
    case "approvals.put":
      if (expect === 0) return "W7";
      if (values["state"] !== "consumed") return "W11";
      return logged ? undefined : "W15";
    default:
      return undefined;
  }
}

function runPoint({ values }: Write, keyring: Keyring): string | undefined {
  const status = String(values["status"]);
  const { body } = verify(String(values["sealed"]), { keyring, purpose: "run-record" });
  const { record } = JSON.parse(body) as { readonly record: { readonly cancel?: object } };
  const isWish = Reflect.has(record.cancel ?? {}, "reason");
  return isWish && status !== "cancelled" ? "W21" : byRunStatus[status];
}

function logPoint(write: Write, keyring: Keyring): string | undefined {
  const event = eventOf(write, keyring);
  const point = byEvent[event?.type ?? ""];
  if (event?.answers?.some(({ decision }) => decision?.reason === "expired") === true) return "W22";
  return point !== undefined && onceOnly.has(event?.call?.name ?? "") ? once(point) : point;
}

/** A write point of a call whose tool is not idempotent. */
export function once(point: string): string {
  return `${point}/once`;
}

/** What is looked at of an event: its names alone, so no class of it has to be built. */
interface Logged {
  readonly type: string;
  readonly call?: { readonly name: string };
  readonly answers?: readonly { readonly decision?: { readonly reason?: string } }[];
}

function eventOf({ key, values }: Write, keyring: Keyring): Logged | undefined {
  const text = wholeText(key, String(values["text"]));
  if (text === undefined) return undefined;
  const { body } = verify(text, { keyring, purpose: "log-entry" });
  return JSON.parse(body) as Logged;
}

const texts = new Map<string, string>();

/**
 * An entry's text where it was kept as what is new in it, and where in earlier ones the rest stands; `undefined` where another
 * process wrote those.
 */
function wholeText(key: string, kept: string): string | undefined {
  const run = key.slice(0, key.lastIndexOf("/"));
  let text = kept;
  if (kept.startsWith("~")) {
    const line = kept.indexOf("\n");
    const fresh = kept.slice(line + 1);
    let used = 0;
    text = "";
    for (const place of kept.slice(1, line).split(" ").slice(1)) {
      const [revision = 0, from = 0, length = 0, at = 0] = place.split(".").map(Number);
      const earlier = texts.get(logKey(run, revision));
      if (earlier === undefined) return undefined;
      text += fresh.slice(used, at) + earlier.slice(from, from + length);
      used = at;
    }
    text += fresh.slice(used);
  }
  texts.set(key, text);
  return text;
}

interface Committing {
  commit(id: string, writes: readonly Write[]): Promise<CommitOutcome>;
}

/** A store whose commits may be where the process ends. */
export function overheard<S extends Committing>(store: S, dying: Dying, keyring: Keyring): S {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (name === "commit") {
        return (attemptId: string, writes: readonly Write[]) =>
          dying.commit(
            attemptId,
            () => writePointsOf(writes, keyring),
            () => target.commit(attemptId, writes),
          );
      }
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
