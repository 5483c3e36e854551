import type { Row, Write } from "@holdpoint/approvals";
import type { RunEvent } from "@holdpoint/flow";
import { decode, encode, sign, verify, type Keyring } from "@holdpoint/seal";

import { WorkflowError } from "../errors.ts";
import { isTerminal } from "../registry/moves.ts";
import type { RunRecord, WaitingFor } from "../registry/record.ts";
import type { RunStatus } from "../registry/store.ts";
import { outboxWrite } from "./store.ts";

/** What is told of a run: that it waits for somebody, that somebody answered, that a time ran out, that it ended. */
const deliveryKinds = ["waiting", "decided", "expired", "ended"] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

/** One move of a run, as it is told: ids, names and times, nothing of what it is about. */
export interface Delivery {
  /** The same at every try: `<run>/<revision>/<kind>`. Whoever is told twice knows it by this. */
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly runId: string;
  readonly definition: string;
  readonly version: string;
  readonly session: string | undefined;
  /** Where the move brought it. */
  readonly status: RunStatus;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it waited for after the move: ids by which it is answered, and what asks. */
  readonly waitsFor: readonly { readonly id: string; readonly tool: string }[];
}

/**
 * What an event is told as, given the run as it stands after it, and what it waited for before: a failure that its policy retries
 * is no end.
 */
export function kindsOf(
  event: RunEvent,
  { standing }: RunRecord,
  waits: readonly WaitingFor[] = [],
): readonly DeliveryKind[] {
  switch (event.type) {
    case "paused":
      return ["waiting"];
    case "answered": {
      const kinds = event.answers.map((answer) =>
        answer.kind === "approval" && answer.decision.reason === "expired" ? "expired" : "decided",
      );
      return [...new Set(kinds)];
    }
    case "deadline-fired": {
      const isOver = ({ kind, visit, callId }: WaitingFor): boolean =>
        kind === "interrupt" && visit === event.visit && callId === event.callId;
      return waits.some(isOver) ? ["expired"] : []; // nobody was asked for a sleep
    }
    case "completed":
    case "failed":
    case "cancelled":
      return isTerminal(standing.status) ? ["ended"] : [];
    default:
      return [];
  }
}

/** Ids of all that can have been told of a run whose log came to this revision; 0: it ended without one. */
export function deliveryIds(runId: string, revision: number): readonly string[] {
  return Array.from({ length: revision + 1 }, (_, at) =>
    deliveryKinds.map((kind) => deliveryId(runId, at, kind)),
  ).flat();
}

function deliveryId(runId: string, revision: number, kind: DeliveryKind): string {
  return `${runId}/${revision}/${kind}`;
}

/** A seal of a delivery opens as nothing else. */
const purpose = "run-delivery";

export class DeliveryCodec {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** The write that belongs into the commit of a move. */
  write(record: RunRecord, kind: DeliveryKind): Write {
    const { facts, standing, revision, updatedAt, waits } = record;
    const { id: runId, scope, definition, version, session } = facts;
    const id = deliveryId(runId, revision, kind);
    const waitsFor = waits.map((wait) => ({ id: wait.id, tool: wait.tool }));
    const what = { runId, definition, version, session, revision, at: updatedAt, waitsFor };
    const delivery: Delivery = { id, kind, status: standing.status, ...what };
    const header = { scope, id };
    const { text } = sign(encode(delivery), { keyring: this.#keyring, purpose, header });
    return outboxWrite(scope, id, text);
  }

  /** @throws WorkflowError `record-tampered` */
  open(scope: string, row: Row): Delivery {
    try {
      const sealed = String(row.values["sealed"]);
      const { header, body } = verify(sealed, { keyring: this.#keyring, purpose });
      if (header["scope"] === scope && header["id"] === row.key) return decode(body) as Delivery; // sealed by us
    } catch (cause) {
      throw tampered(row.key, cause);
    }
    throw tampered(row.key);
  }
}

function tampered(delivery: string, cause?: unknown): WorkflowError {
  const message = `the delivery ${delivery} can't be trusted, and is not made`;
  return new WorkflowError("record-tampered", message, { delivery }, cause);
}
