import type { ApprovalRule } from "@holdpoint/approvals";
import type { AnyTool } from "@holdpoint/tools";
import type { z } from "zod";

import type { NodeContext } from "../run/context.ts";
import type { Interrupt } from "./interrupt.ts";
import type { ItemContext, MapResults } from "./map.ts";
import type { NestedFlow } from "./nested.ts";

export type MaybePromise<T> = T | Promise<T>;
export type State = Record<string, unknown>;

/** How often and after which wait a failed execution is tried again. */
export interface Retry {
  /** Executions in all, the first included; 1 or more. */
  readonly attempts: number;
  /** Wait before the n-th retry, in milliseconds; a number doubles each time. */
  readonly backoffMs?: number | ((retry: number) => number);
  /** Which failures are tried again; by default those that say `retryable`. */
  readonly on?: (error: unknown) => boolean;
}

/** What every node may be given. Titles and descriptions are for people and no part of the graph's digest. */
export interface NodeOptions {
  readonly title?: string;
  readonly description?: string;
  /** Raise it when the function's meaning changes: a paused run of the old one is then refused (FLOW-52). */
  readonly version?: string;
  /** The interrupts that the node's code may ask (`ctx.ask`); part of the graph. */
  readonly asks?: readonly Interrupt[];
  /** Runs once nothing that is due can still reach it: where branches come together (FLOW-10). */
  readonly join?: boolean;
  /** Visits of this node that one run may make. */
  readonly maxVisits?: number;
  readonly retry?: Retry;
  /** Time one execution may take, in milliseconds; a person's time does not count. */
  readonly timeoutMs?: number;
}

/** An edit that a gate's person may make to its payload. */
export interface GateEdits {
  readonly schema: z.ZodType;
  readonly apply: (edited: unknown, state: State) => State;
}

interface SpecBase {
  readonly name: string;
  readonly options: NodeOptions;
}

export interface FunctionSpec extends SpecBase {
  readonly kind: "function";
  readonly run: (state: State, ctx: NodeContext) => MaybePromise<State | void>;
  readonly runs: readonly NestedFlow[];
}

export interface GateSpec extends SpecBase {
  readonly kind: "gate";
  readonly payload: (state: State) => unknown;
  readonly when: ((state: State) => boolean) | undefined;
  readonly edits: GateEdits | undefined;
  readonly rule: ApprovalRule;
}

export interface CallSpec extends SpecBase {
  readonly kind: "call";
  readonly tool: AnyTool;
  /** Static arguments, which the digest sees, or a function of the state. */
  readonly args: unknown;
  /** A field of the state, a function that makes an update, or nothing. */
  readonly into: string | ((result: unknown, state: State) => State | void) | undefined;
}

interface MapBase extends SpecBase {
  readonly over: (state: State) => unknown;
  readonly into: (results: MapResults<unknown>, state: State) => State | void;
  readonly concurrency: number | undefined;
  readonly onError: "fail" | "skip";
  readonly stopOnPause: boolean;
}

/** A function over the items of a list. */
export interface MapSpec extends MapBase {
  readonly kind: "map";
  readonly each: (item: unknown, ctx: ItemContext, state: State) => unknown;
  readonly runs: readonly NestedFlow[];
}

/** A call of one tool for each item of a list. */
export interface MapCallSpec extends MapBase {
  readonly kind: "map-call";
  readonly tool: AnyTool;
  readonly args: (item: unknown, index: number, state: State) => unknown;
}

/** One run of another flow. */
export interface SubflowSpec extends SpecBase {
  readonly kind: "subflow";
  readonly flow: NestedFlow;
  readonly input: (state: State) => unknown;
  readonly into: (end: unknown, state: State) => State | void;
}

/** One node of a flow, by kind. */
export type NodeSpec = FunctionSpec | GateSpec | CallSpec | MapSpec | MapCallSpec | SubflowSpec;

/** A route: the targets it may name, and the choice among them. */
export interface RouteSpec {
  readonly from: string;
  readonly targets: readonly string[];
  readonly choose: (state: State) => string | string[];
}

/** A drawn connection that is taken by what happened, not chosen. */
export interface EdgeSpec {
  readonly from: string;
  readonly to: string;
  readonly when: "finished" | "denied" | "failed";
}

export interface ReducerSpec {
  readonly field: string;
  readonly merge: (current: unknown, update: unknown) => unknown;
}

/** Ends the flow; as text, so that it shows in messages and seals. Names beginning with `$` are reserved. */
export const END = "$end" as const;
