import { z } from "zod";

import { FlowError } from "../errors.ts";
import { freezeBuilt, freezeOwn } from "./built.ts";
import { listReader, type ListReader } from "./list-field.ts";

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
  /**
   * One field of an update, checked. `current`: what the state holds there, whose elements are not read again where the field
   * is a list (`list-field.ts`). @throws FlowError `unknown-field`, `update-invalid`
   */
  field(name: string, value: unknown, node: string, current?: unknown): unknown;
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
  const lists = new Map<string, ListReader>();
  /** Fields for which the schema would make a value of its own: on the output side there is nothing to make. */
  const making: string[] = [];
  for (const name of fields) {
    const held = heldBy(shape[name]!);
    if (held !== shape[name]) making.push(name);
    output.set(name, outputOf(held));
    const list = listReader(output.get(name)!);
    if (list !== undefined) lists.set(name, list);
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
    field(name, value, node, current) {
      const reader = output.get(name);
      if (reader === undefined) {
        const message = `the state has no field '${name}'`;
        throw new FlowError("unknown-field", message, { node, field: name });
      }
      const list = lists.get(name)?.(value, current);
      if (list !== undefined) return list;
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
