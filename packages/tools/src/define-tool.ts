import { buildsAll } from "./built-result.ts";
import type { GateAnswer } from "./confirm.ts";
import type { CallContext } from "./context.ts";
import { ToolDefinitionError } from "./errors.ts";
import { type Execute, keepExecute } from "./execute-handle.ts";
import { compileWalk, readsPath } from "./input-walk.ts";
import { attemptsMax } from "./limits.ts";
import type { Retry } from "./retry.ts";
import {
  type InputOf,
  type OutputOf,
  outputValidatorOf,
  type Schema,
  validatorOf,
} from "./schema.ts";
import { parsePath } from "./secret.ts";
import type { Tool } from "./tool.ts";
import { keepRecord, type Revalidate, type ToolRecord } from "./tool-record.ts";

/** What a tool is made of. `R` is what `execute` returns, before the output schema reads it. */
export interface ToolSpec<
  N extends string,
  I extends Schema<unknown, unknown>,
  O extends Schema<unknown, unknown>,
  R,
> {
  /**
   * Names the tool in records, logs and keys: a letter, then letters, digits, `_`, `.` or `-`; 128
   * at most.
   */
  readonly name: N;
  /** For the person who decides, and for models that choose tools. */
  readonly description: string;
  readonly input: I;
  /** What `execute` must return; absent: its result is taken as it is. */
  readonly output?: O;
  /** Whether a person has to let a call go, by its arguments; default: never. */
  readonly confirm?: boolean | ((args: OutputOf<I>, context: CallContext) => GateAnswer);
  /** Asked once more right before execution; an object with a code refuses. */
  readonly revalidate?: Revalidate<OutputOf<I>>;
  /** Running it twice under one idempotency key does what running it once does (default: no). */
  readonly idempotent?: boolean;
  /** How long one attempt may take, in milliseconds. A person's time never counts (TOOL-14). */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
  /**
   * Dotted paths of arguments that no view may show: `card.number`, `cards.*.number`. Arrays are
   * gone through whether or not the path says so. `execute` gets them whole.
   */
  readonly secrets?: readonly string[];
  /**
   * What the journal key is made of, for inputs that can't be sealed; must be the same for the same
   * input.
   */
  readonly key?: (input: InputOf<I>) => unknown;
  /**
   * What a call costs, in a unit of the caller's own, for guards (default 0). Charged once, at
   * dispatch.
   */
  readonly cost?: number | ((args: OutputOf<I>) => number);
  /** Change it when the tool's meaning changes. */
  readonly version?: string;
  readonly execute: (args: OutputOf<I>, context: CallContext) => R | Promise<R>;
}

/** With an output schema what that gives, else what `execute` returns. */
export type ResultOf<O extends Schema<unknown, unknown>, R> =
  unknown extends OutputOf<O> ? R : OutputOf<O>;

/**
 * Makes a tool: a named, typed side effect that only an executor can run (TOOL-01, TOOL-10).
 *
 * @example
 * const issueRefund = defineTool({
 *   name: "issue_refund",
 *   description: "Pay money back to a customer's card.",
 *   input: z.object({ orderId: z.string(), cents: z.int().positive() }),
 *   output: z.object({ refundId: z.string() }),
 *   confirm: ({ cents }) => cents > 10_000,
 *   execute: ({ orderId, cents }, { idempotencyKey, signal }) =>
 *     payments.refund(orderId, cents, { idempotencyKey, signal }),
 * });
 * @throws ToolDefinitionError `definition-invalid`, naming the member that can't be.
 */
export function defineTool<
  const N extends string,
  I extends Schema<unknown, unknown>,
  O extends Schema<unknown, unknown> = Schema<unknown, unknown>,
  R extends InputOf<O> = InputOf<O>,
>(spec: ToolSpec<N, I, O, R>): Tool<InputOf<I>, ResultOf<O, R>, N, OutputOf<I>> {
  check(spec);
  const { name, description, version, idempotent = false } = spec;
  const tool: Tool<InputOf<I>, ResultOf<O, R>, N, OutputOf<I>> = {
    name,
    description,
    version,
    idempotent,
  };
  keepRecord(tool, recordFrom(spec));
  keepExecute(tool, spec.execute as Execute);
  return Object.freeze(tool);
}

/** A spec whose types have done their work: its functions take what nobody here can make. */
interface AnySpec extends Pick<
  ToolSpec<string, Schema, Schema, unknown>,
  "name" | "input" | "output" | "idempotent" | "timeoutMs" | "retry" | "secrets" | "version"
> {
  readonly confirm?: boolean | ((args: never, context: CallContext) => GateAnswer);
  readonly revalidate?: (args: never, context: CallContext) => ReturnType<Revalidate>;
  readonly key?: (input: never) => unknown;
  readonly cost?: number | ((args: never) => number);
  readonly execute: (args: never, context: CallContext) => unknown;
}

function recordFrom(spec: AnySpec): ToolRecord {
  let walk: ReturnType<ToolRecord["walk"]> | undefined;
  let made: ReturnType<ToolRecord["validateMade"]>;
  let builds: boolean | undefined;
  return {
    name: spec.name,
    version: spec.version,
    idempotent: spec.idempotent ?? false,
    input: spec.input,
    output: spec.output,
    validateInput: validatorOf(spec.input),
    validateOutput: spec.output && validatorOf(spec.output),
    validateMade: () => (made ??= outputValidatorOf(spec.input)),
    buildsResult: () => (builds ??= buildsAll(spec.output)),
    confirm: (spec.confirm ?? false) as ToolRecord["confirm"],
    revalidate: spec.revalidate as ToolRecord["revalidate"],
    retry: spec.retry && Object.freeze({ ...spec.retry }),
    timeoutMs: spec.timeoutMs,
    secrets: Object.freeze([...(spec.secrets ?? [])]),
    key: spec.key as ToolRecord["key"],
    cost: (spec.cost ?? 0) as ToolRecord["cost"],
    // Not before it is needed: a recursive schema may name what is defined after the tool.
    walk: () => (walk ??= walkOf(spec)),
  };
}

function walkOf({ name, input, secrets = [] }: AnySpec): ReturnType<ToolRecord["walk"]> {
  // A misspelled secret would be shown to everybody.
  const lost = secrets.find((path) => !readsPath(input, path.split(".")));
  if (lost === undefined) return compileWalk(input);
  throw new ToolDefinitionError(`the tool '${name}' has no argument at its secret path '${lost}'`, {
    code: "definition-invalid",
    attributes: { tool: name, member: "secrets" },
  });
}

function check(spec: AnySpec): void {
  const { name, timeoutMs, retry } = spec;
  const wrong =
    typeof name !== "string" || !/^[A-Za-z][\w.-]{0,127}$/.test(name)
      ? "name"
      : typeof spec.execute !== "function"
        ? "execute"
        : !isSchema(spec.input)
          ? "input"
          : spec.output !== undefined && !isSchema(spec.output)
            ? "output"
            : timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs))
              ? "timeoutMs"
              : retry !== undefined && !isRetry(retry)
                ? "retry"
                : spec.secrets?.some((path) => parsePath(path) === undefined) === true
                  ? "secrets"
                  : undefined;
  if (wrong === undefined) return;
  throw new ToolDefinitionError(
    `the tool '${String(name)}' can't be: its '${wrong}' is not valid`,
    {
      code: "definition-invalid",
      attributes: { tool: String(name), member: wrong },
    },
  );
}

function isSchema(schema: unknown): boolean {
  const known = typeof schema === "object" || typeof schema === "function";
  return known && schema !== null && "~standard" in schema;
}

function isRetry({ attempts, backoffMs = 0 }: Retry): boolean {
  return (
    Number.isInteger(attempts) &&
    attempts >= 1 &&
    attempts <= attemptsMax &&
    backoffMs >= 0 &&
    Number.isFinite(backoffMs)
  );
}
