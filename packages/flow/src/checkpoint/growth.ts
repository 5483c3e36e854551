/**
 * Fields that only grew, as they are logged (FLOW-73): how much of what the state held stays, and what follows it. So a round that
 * adds an element to a list is encoded, sealed and read in the time that the element takes, however long the list is.
 *
 * W1 It is above the seal: what an entry says is what its MAC covers, and what it goes on from is covered by the entries before.
 * W2 A field goes on from what the state held when its event happened: the state of its frame, which only a round's end changes.
 *    Who reads the log is handed whole values (`Whole`); only an entry's text knows of this form.
 * W3 Of a list, only elements stay that nobody can have changed since they were logged (`list-field.ts`).
 * W4 What is logged in parts keeps the limits of a whole: where a field may have passed one, it is encoded whole, and refused as such.
 */
import { DEFAULT_LIMITS } from "@holdpoint/seal";

import { isKnownList } from "../graph/list-field.ts";
import type { State } from "../graph/node.ts";
import type { RunEvent } from "../run/event.ts";

/** Shorter texts are logged as they are. */
const textCharsMin = 1_024;
/** A field that goes on from the one that the state held. */
export interface Growth {
  /** How many elements, or characters, of that stay. */
  readonly keeps: number;
  readonly adds: readonly unknown[] | string;
}

export type Growths = Readonly<Record<string, Growth>>;

/** An event with those of its fields that did not grow, and what was added to the others. */
export interface Grown {
  readonly event: RunEvent;
  /** How large each of the others was before, at most. */
  readonly before: ReadonlyMap<string, Size>;
}

/** How large a text is, at most. */
interface Size {
  readonly bytes: number;
  readonly values: number;
  readonly brackets: number;
}

/** A character of a text takes so many bytes at most, as it stands or escaped. */
const bytesPerChar = 6;

const nothing: Size = { bytes: 0, values: 0, brackets: 0 };

/** The fields that an event writes. */
export function fieldsOf(event: RunEvent): State | undefined {
  if (event.type === "routed") return event.reduced;
  return event.type === "visit-finished" && event.end.ok ? event.end.update : undefined;
}

/** The same event with other fields; `grown`: and what was added to those that are left out. */
export function withFields(event: RunEvent, fields: State, grown: Growths | undefined): RunEvent {
  const more = { ...(grown !== undefined && { grown }) };
  if (event.type === "routed") return { ...event, reduced: fields, ...more };
  if (event.type !== "visit-finished" || !event.end.ok) return event;
  return { ...event, end: { ...event.end, update: fields, ...more } };
}

/** Finds what of the fields that a run's events write is growth. */
export class Growing {
  /** W4: of the lists that were logged, how large they are at most. */
  readonly #sizes = new WeakMap<object, Size>();

  /** An event as it may be logged; `undefined`: nothing of it grew. `state`: of its frame, before it (W2). */
  of(event: RunEvent, state: State): Grown | undefined {
    const fields = fieldsOf(event);
    if (fields === undefined) return undefined;
    const sizes = new Map<string, Size>();
    let rest: State | undefined;
    const grown: Record<string, Growth> = {};
    for (const name of Object.keys(fields)) {
      const was = state[name];
      const before = this.#sizeOf(was);
      const growth = before && growthOf(fields[name], was);
      if (growth === undefined) continue;
      delete (rest ??= { ...fields })[name];
      define(grown, name, growth);
      sizes.set(name, before!);
    }
    return rest && { event: withFields(event, rest, grown), before: sizes };
  }

  /** W4: whether an event that was encoded in part may stand so. */
  fits({ before }: Grown, text: string): boolean {
    const { bytes, values, brackets } = [...before.values()].reduce(sum, sizeOf(text));
    const most = DEFAULT_LIMITS;
    return bytes <= most.bytes && values <= most.nodes && brackets <= most.brackets;
  }

  /** An event was encoded, and its fields can be gone on from. `grown`: where that was in part. */
  encoded(event: RunEvent, text: string, grown?: Grown): void {
    let added: Size | undefined;
    for (const [name, field] of Object.entries(fieldsOf(event) ?? {})) {
      if (!isKnownList(field)) continue;
      added ??= sizeOf(text);
      this.#sizes.set(field, sum(grown?.before.get(name) ?? nothing, added));
    }
  }

  /** Of what can be gone on from (W3); a text is as long as it is. */
  #sizeOf(was: unknown): Size | undefined {
    if (typeof was === "object" && was !== null) return this.#sizes.get(was);
    if (typeof was !== "string" || was.length < textCharsMin) return undefined;
    return { bytes: was.length * bytesPerChar, values: 1, brackets: 0 };
  }
}

/** What was added to a field; `undefined`: it is another one. */
function growthOf(is: unknown, was: unknown): Growth | undefined {
  if (typeof was === "string") {
    const grew = typeof is === "string" && is.startsWith(was);
    return grew ? { keeps: was.length, adds: is.slice(was.length) } : undefined;
  }
  if (!isKnownList(is) || !isKnownList(was)) return undefined; // W3
  const most = Math.min(is.length, was.length);
  let keeps = 0;
  while (keeps < most && Object.is(is[keeps], was[keeps])) keeps += 1;
  return keeps === 0 ? undefined : { keeps, adds: is.slice(keeps) };
}

function sum(one: Size, other: Size): Size {
  return {
    bytes: one.bytes + other.bytes,
    values: one.values + other.values,
    brackets: one.brackets + other.brackets,
  };
}

/** Each value but the first stands behind a comma or opens a list or an object; what stands in texts is counted too. */
function sizeOf(text: string): Size {
  const brackets = countOf(text, "{") + countOf(text, "[");
  const wide = text.replace(narrow, "").length;
  const bytes = text.length + 2 * wide;
  return { bytes, values: 1 + brackets + countOf(text, ","), brackets };
}

/** Characters of one byte; any other takes three at most. */
const narrow = /[ -~]+/gu;

function countOf(text: string, mark: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}

/** A field may be called `__proto__`. */
function define(of: object, name: string, value: unknown): void {
  Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true });
}
