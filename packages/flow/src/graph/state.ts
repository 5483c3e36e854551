import { z } from "zod";

import { FlowError } from "../errors.ts";
import type { State } from "./node.ts";

/** The state of a flow: a zod object. */
export type StateSchema = z.ZodObject;

/**
 * How a flow reads its state (FLOW-03). Values in the state are on the output side of the schema: an update is checked
 * by `z.output(field)`, so nothing is transformed twice.
 */
export interface StateReader {
  readonly fields: readonly string[];
  readonly schema: StateSchema;
  /** The start input, read once by the whole schema. @throws FlowError `input-invalid` */
  start(input: unknown): Record<string, unknown>;
  /** One field of an update, checked. @throws FlowError `unknown-field`, `update-invalid` */
  field(name: string, value: unknown, node: string): unknown;
  /** The whole object's own checks on a merged state. @throws FlowError `state-invalid` */
  whole(state: Record<string, unknown>): void;
  /** A decoded state: checked and frozen where a fresh one is, never replaced. @throws FlowError `state-invalid` */
  opened(state: Record<string, unknown>): void;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Issues as text: paths and zod's own sentences, which do not quote values. */
export function issuesText(issues: readonly Issue[]): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join(".") || "(whole)"}: ${issue.message}`)
    .join("; ");
}

/** Checks what a schema has made, and makes nothing of its own. */
export function outputOf(schema: z.ZodType): z.ZodType {
  return z.output(schema) as z.ZodType;
}

/** Compiles the schema once per flow. */
export function stateReader(schema: StateSchema): StateReader {
  const shape = schema.shape as Record<string, z.ZodType>;
  const fields = Object.keys(shape);
  const output = new Map<string, z.ZodType>();
  /** Fields for which the schema would make a value of its own: on the output side there is nothing to make. */
  const making: string[] = [];
  for (const name of fields) {
    const held = heldBy(shape[name]!);
    if (held !== shape[name]) making.push(name);
    output.set(name, outputOf(held));
  }
  const wholeOutput = outputOf(schema);
  const hasOwnChecks = (schema._zod.def.checks?.length ?? 0) > 0;

  return {
    fields,
    schema,
    start(input) {
      const read = schema.safeParse(input);
      if (!read.success) throw unfitInput(read.error.issues);
      const state = read.data as Record<string, unknown>;
      for (const name of Object.keys(state))
        freezeBuilt(state[name], (input as Record<string, unknown>)[name]);
      return Object.freeze(state);
    },
    field(name, value, node) {
      const reader = output.get(name);
      if (reader === undefined) {
        const message = `the state has no field '${name}'`;
        throw new FlowError("unknown-field", message, { node, field: name });
      }
      const read = reader.safeParse(value);
      if (!read.success) {
        const message = `the update of '${name}' does not fit: ${issuesText(read.error.issues)}`;
        throw new FlowError("update-invalid", message, { node, field: name });
      }
      freezeBuilt(read.data, value);
      return read.data;
    },
    whole(state) {
      if (hasOwnChecks) checked(wholeOutput, state);
    },
    opened(state) {
      for (const name of making) {
        const read = output.get(name)!.safeParse(state[name]);
        if (read.success) continue;
        const issues = read.error.issues.map(({ path, message }) => ({
          path: [name, ...path],
          message,
        }));
        throw unfit(issues);
      }
      freezeOwn(state, checked(wholeOutput, state));
    },
  };
}

/** A state read by the whole schema. @throws FlowError `state-invalid` */
function checked(schema: z.ZodType, state: Record<string, unknown>): unknown {
  const read = schema.safeParse(state);
  if (read.success) return read.data;
  throw unfit(read.error.issues);
}

function unfit(issues: readonly Issue[]): FlowError {
  const message = `the state does not fit its schema: ${issuesText(issues)}`;
  return new FlowError("state-invalid", message, { issues: pathsOf(issues) });
}

function unfitInput(issues: readonly Issue[]): FlowError {
  const message = `the input does not fit the state: ${issuesText(issues)}`;
  return new FlowError("input-invalid", message, { issues: pathsOf(issues) });
}

export function pathsOf(issues: readonly Issue[]): string[] {
  return issues.map((issue) => issue.path.map(String).join("."));
}

/** A field's schema without the defaults around it: `undefined` and wrong values are refused, not replaced (FLOW-13). */
function heldBy(field: z.ZodType): z.ZodType {
  const def = field._zod.def as { readonly type: string; readonly innerType?: z.ZodType };
  const makes = def.type === "default" || def.type === "prefault" || def.type === "catch";
  return makes && def.innerType !== undefined ? heldBy(def.innerType) : field;
}

/** Freezes of a decoded value what zod would have built, had it read it: a resumed node gets what a fresh one gets. */
function freezeOwn(own: unknown, built: unknown): void {
  if (typeof own !== "object" || own === null || own === built || Object.isFrozen(own)) return;
  const like = typeof built === "object" && built !== null ? built : {};
  const plain = Array.isArray(own) || Object.getPrototypeOf(own) === Object.prototype;
  if (!plain) return;
  for (const [key, part] of Object.entries(own)) freezeOwn(part, (like as State)[key]);
  Object.freeze(own);
}

/**
 * Freezes the containers that zod has just built, so a node that mutates its state fails loudly instead of making a
 * resumed run differ. What zod passed through untouched is the caller's own and stays as it is.
 */
function freezeBuilt(built: unknown, from: unknown): void {
  if (typeof built !== "object" || built === null || built === from || Object.isFrozen(built))
    return;
  const source = typeof from === "object" && from !== null ? (from as Record<string, unknown>) : {};
  if (Array.isArray(built)) {
    for (let index = 0; index < built.length; index++) freezeBuilt(built[index], source[index]);
    Object.freeze(built);
  } else if (Object.getPrototypeOf(built) === Object.prototype) {
    for (const key of Object.keys(built))
      freezeBuilt((built as Record<string, unknown>)[key], source[key]);
    Object.freeze(built);
  }
}
