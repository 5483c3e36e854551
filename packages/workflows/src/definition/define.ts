import type { Flow, FlowInput, FlowState } from "@holdpoint/flow";
import type { InputOf, OutputOf, Schema } from "@holdpoint/tools";

import {
  definitionNamePattern,
  definitionVersionPattern,
  descriptionCharactersMax,
} from "../limits.ts";
import { checkText, documentLimits, type Checked } from "./boundary.ts";
import { jsonSchemaOf, type JsonSchema } from "./json-schema.ts";
import { inside, invalid, takesNone, type WorkflowFacts } from "./facts.ts";
import { Lifecycle, type LifecycleOptions } from "./lifecycle.ts";
import { checkPolicy, type RetryPolicy } from "./retry-policy.ts";
import type { DocumentLimits } from "./strict-json.ts";

/** A document as its definition took it. */
export interface CheckedDocument<T> {
  /** What was read: give this to `start`. */
  readonly document: T;
  /** The document in canonical form: one text for every spelling of it. */
  readonly canonical: string;
}

/**
 * A flow with a name, a version, and schemas for what comes in and goes out. `In` is what a run starts from, `Resume` what a
 * resume brings, `Out` what a completed run gives.
 */
export interface Workflow<
  N extends string = string,
  In = unknown,
  Resume = unknown,
  Out = unknown,
> {
  readonly name: N;
  readonly version: string;
  readonly description: string | undefined;
  /** Whether a resume may bring a payload (WF-04). */
  readonly takesPayload: boolean;
  /** Reads a text strictly, and by the input schema (WF-02). @throws InvalidInputError */
  validateInput(json: string | Uint8Array): Promise<CheckedDocument<In>>;
  /** The same by the resume schema. @throws InvalidInputError; WorkflowError `resume-not-taken` */
  validateResume(json: string | Uint8Array): Promise<CheckedDocument<Resume>>;
  /** @throws WorkflowError `schema-not-describable` */
  inputJsonSchema(): JsonSchema;
  /** Absent where no payload is taken. @throws WorkflowError `schema-not-describable` */
  resumeJsonSchema(): JsonSchema | undefined;
  /** Of what a completed run gives; absent where the definition has no output schema. @throws as `inputJsonSchema` */
  outputJsonSchema(): JsonSchema | undefined;
  /** Its runs over stores, by hand: the same lifecycle without a supervisor (WF-05). @throws as `new Workflows` */
  runsOn(options: LifecycleOptions): Lifecycle<In, Resume, Out>;
  /** Types only; never present. */
  readonly types?: { readonly input: In; readonly resume: Resume; readonly output: Out };
}

/** `begin` is required exactly where the input's schema does not give what the flow starts from (WF-01). */
export type BeginIfNeeded<I extends Schema, F> = [OutputOf<I>] extends [FlowInput<F>]
  ? { readonly begin?: (input: OutputOf<I>) => FlowInput<F> }
  : { readonly begin: (input: OutputOf<I>) => FlowInput<F> };

/** `end` is required exactly where the flow's state is not what the output's schema takes. */
export type EndIfNeeded<F, O extends Schema> = [FlowState<F>] extends [InputOf<O>]
  ? { readonly end?: (state: FlowState<F>) => InputOf<O> }
  : { readonly end: (state: FlowState<F>) => InputOf<O> };

/** What a definition is made of. */
export interface WorkflowSpec<
  N extends string,
  I extends Schema,
  F extends Flow,
  R extends Schema,
  O extends Schema,
> {
  /** 1 to 64 of letters, digits, `.`, `_`, `-`, a letter first. */
  readonly name: N;
  /** 1 to 64 of letters, digits, `.`, `+`, `_`, `-`. A run stays with the exact version it began with. */
  readonly version: string;
  /** For people: up to 1,024 characters. */
  readonly description?: string;
  readonly input: I;
  readonly flow: F;
  /** What a resume may bring; without one, runs take decisions only (WF-04). */
  readonly resume?: R;
  readonly output?: O;
  /** A line on a completed run, for lists. What it says leaves the boundary: no secrets. */
  readonly summarize?: (state: FlowState<F>) => string;
  /** When failed runs are retried by themselves; without one only `retry` does it (WF-29). */
  readonly retry?: RetryPolicy;
  /** Bounds of input and payload; default 256 KiB, nesting 32, 4,096 members. */
  readonly limits?: Partial<DocumentLimits>;
}

/**
 * Gives a flow a name and a version that the outside can start, and schemas that stand before it.
 * @throws WorkflowError `definition-invalid`
 */
export function defineWorkflow<
  const N extends string,
  I extends Schema,
  F extends Flow,
  R extends Schema = Schema<never>,
  O extends Schema = Schema<FlowState<F>>,
>(
  spec: WorkflowSpec<N, I, F, R, O> & BeginIfNeeded<I, F> & EndIfNeeded<F, O>,
): Workflow<N, InputOf<I>, InputOf<R>, OutputOf<O>> {
  const own: AnySpec = spec;
  const { name, version, description } = own;
  if (!definitionNamePattern.test(name)) {
    throw invalid("a definition's name is 1 to 64 of letters, digits, . _ -, a letter first");
  }
  if (!definitionVersionPattern.test(version)) {
    throw invalid(`the version of '${name}' is not 1 to 64 of letters, digits, . + _ -`);
  }
  if (description !== undefined && description.length > descriptionCharactersMax) {
    throw invalid(`the description of '${name}' is longer than ${descriptionCharactersMax}`);
  }
  checkPolicy(name, own.retry);
  const same = (value: unknown): unknown => value;
  return new BuiltWorkflow(name as N, version, description, {
    flow: own.flow,
    input: own.input,
    resume: own.resume,
    output: own.output,
    // They get what their own schemas and flow gave: the types above have seen to it.
    begin: (own.begin ?? same) as WorkflowFacts["begin"],
    end: (own.end ?? same) as WorkflowFacts["end"],
    summarize: own.summarize as WorkflowFacts["summarize"],
    retry: own.retry,
    limits: { ...documentLimits, ...own.limits },
  });
}

/** A spec as the code below sees it: its types have done their work. */
interface AnySpec extends Omit<WorkflowSpec<string, Schema, Flow, Schema, Schema>, "summarize"> {
  readonly begin?: (input: never) => unknown;
  readonly end?: (state: never) => unknown;
  readonly summarize?: (state: never) => string;
}

class BuiltWorkflow<N extends string> implements Workflow<N, never, never, never> {
  readonly name: N;
  readonly version: string;
  readonly description: string | undefined;
  readonly takesPayload: boolean;
  declare readonly types?: { input: never; resume: never; output: never };
  declare readonly [inside]: WorkflowFacts;

  constructor(name: N, version: string, description: string | undefined, facts: WorkflowFacts) {
    this.name = name;
    this.version = version;
    this.description = description;
    this.takesPayload = facts.resume !== undefined;
    Object.defineProperty(this, inside, { value: Object.freeze(facts) });
    Object.freeze(this);
  }

  async validateInput(json: string | Uint8Array): Promise<CheckedDocument<never>> {
    const { input, limits } = this[inside];
    return documentOf(await checkText("input", input, json, limits));
  }

  async validateResume(json: string | Uint8Array): Promise<CheckedDocument<never>> {
    const { resume, limits } = this[inside];
    if (resume === undefined) throw takesNone(this.name, this.version);
    return documentOf(await checkText("resume", resume, json, limits));
  }

  runsOn(options: LifecycleOptions): Lifecycle<never, never, never> {
    return new Lifecycle<never, never, never>(this, options);
  }

  inputJsonSchema(): JsonSchema {
    return jsonSchemaOf(this[inside].input, `input of '${this.name}'`);
  }

  resumeJsonSchema(): JsonSchema | undefined {
    const { resume } = this[inside];
    return resume && jsonSchemaOf(resume, `resume payload of '${this.name}'`);
  }

  outputJsonSchema(): JsonSchema | undefined {
    const { output } = this[inside];
    return output && jsonSchemaOf(output, `output of '${this.name}'`, "output");
  }
}

function documentOf({ given, canonical }: Checked): CheckedDocument<never> {
  return { document: given as never, canonical };
}
