import type { State } from "../graph/node.ts";
import type { RunEvent } from "../run/event.ts";
import { mergedFields } from "../run/fold.ts";
import type { Frame, Stand } from "../run/state.ts";
import { fieldsOf, withFields, type Growth, type Growths } from "./growth.ts";
import { tampered } from "./open.ts";

/** A frame's state, and what its round's visits wrote so far. */
interface Fields {
  state: State;
  updates: State[];
}

/**
 * Makes a log's events whole, in order: what was logged as growth goes on from what the state held (`growth.ts`). It follows the
 * states of the run's frames alone, so that whoever reads a history gets it without what a fold makes of it.
 */
export class Whole {
  readonly #runId: string;
  readonly #frames = new Map<string, Fields>();

  /** `stand`: where the run stood before the first event; absent: that begins it. */
  constructor(runId: string, stand?: Stand) {
    this.#runId = runId;
    if (stand !== undefined) this.#stands(stand);
  }

  /** The event as it happened. @throws FlowError `checkpoint-tampered` where it goes on from what is not there */
  take(event: RunEvent): RunEvent {
    switch (event.type) {
      case "run-started":
        this.#frames.set("", { state: event.state, updates: [] });
        return event;
      case "nested-started":
        this.#frames.set(event.path, { state: event.state, updates: [] });
        return event;
      case "forked":
      case "migrated":
      case "run-retried":
        this.#stands(event.stand);
        return event;
      case "visit-finished":
      case "routed":
        return this.#written(event);
      default:
        return event;
    }
  }

  #stands(stand: Stand): void {
    this.#frames.clear();
    for (const frame of [stand, ...stand.frames.values()])
      this.#frames.set(frame.path, { state: frame.state, updates: updatesOf(frame) });
  }

  #written(event: Extract<RunEvent, { type: "visit-finished" | "routed" }>): RunEvent {
    const path = event.type === "routed" ? (event.frame ?? "") : framePath(event.visit);
    const frame = this.#frames.get(path);
    const written = fieldsOf(event);
    if (written === undefined) return event;
    const grown = growthsOf(event);
    const whole = grown === undefined ? event : this.#whole(event, frame?.state ?? {}, grown);
    if (frame === undefined) return whole;
    const fields = fieldsOf(whole)!;
    if (event.type === "visit-finished") frame.updates.push(fields);
    else {
      frame.state = mergedFields(frame.state, frame.updates, fields);
      frame.updates = [];
    }
    return whole;
  }

  #whole(event: RunEvent, state: State, grown: Growths): RunEvent {
    const fields = { ...fieldsOf(event) };
    for (const [name, growth] of Object.entries(grown)) {
      const value = extended(state[name], growth);
      if (value === undefined)
        throw tampered(this.#runId, `its log goes on from a '${name}' that it does not hold`);
      Object.defineProperty(fields, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return withFields(event, fields, undefined);
  }
}

/** A field that was gone on from; `undefined`: it is not there, or shorter. */
function extended(was: unknown, { keeps, adds }: Growth): unknown {
  if (typeof adds === "string")
    return typeof was === "string" && was.length >= keeps ? was.slice(0, keeps) + adds : undefined;
  return Array.isArray(was) && was.length >= keeps ? [...was.slice(0, keeps), ...adds] : undefined;
}

function growthsOf(event: RunEvent): Growths | undefined {
  const of = event.type === "visit-finished" ? event.end : event;
  return (of as { readonly grown?: Growths }).grown;
}

/** The frame that a visit is in, by its path. */
function framePath(visit: string): string {
  return visit.slice(0, Math.max(0, visit.lastIndexOf("/")));
}

function updatesOf({ visits }: Frame): State[] {
  return visits.flatMap((visit) =>
    visit.status === "finished" && visit.end.ok ? [visit.end.update] : [],
  );
}
