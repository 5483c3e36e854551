import type { ErrorInfo } from "./error-info.ts";
import {
  ToolArgumentsError,
  ToolCancelledError,
  ToolDefinitionError,
  ToolDeniedError,
  ToolDispatchError,
  ToolError,
  type ToolErrorInit,
  ToolFailedError,
  ToolGuardError,
  ToolOutputError,
  ToolTimedOutError,
} from "./errors.ts";
import { layerClasses } from "./layer-errors.ts";

/** How a recorded failure becomes an error of its class again. */
interface ErrorClass {
  readonly prototype: object;
  readonly build: (info: ErrorInfo) => Error;
}

/** A class with `ToolError`'s constructor. */
export type ToolErrorClass = new (message: string, init: ToolErrorInit) => Error;

const classes = new Map<string, ErrorClass>();
const names = new Map<object, string>();

/**
 * Registers a caller's own error class under a name that outlives renaming and minifying, so that a
 * failure of that class is rebuilt as one, live and replayed. `build` is needed where the
 * constructor is not `ToolError`'s `(message, init)`. Register before the first run or resume, in
 * every process. A subclass of a registered one that has no `errorName` of its own is rebuilt as
 * its parent.
 *
 * @throws ToolDefinitionError `definition-invalid` where the name belongs to another class.
 */
export function registerErrorClass<C extends AnyClass>(
  name: string,
  of: C,
  ...[build]: C extends ToolErrorClass ? [build?: Build<C>] : [build: Build<C>]
): void {
  enter(
    name,
    of.prototype as object,
    build ?? ((info) => construct(of as AnyClass as ToolErrorClass, info)),
  );
}

type AnyClass = abstract new (...args: never[]) => Error;
type Build<C extends AnyClass> = (info: ErrorInfo) => InstanceType<C>;

function enter(name: string, prototype: object, build: (info: ErrorInfo) => Error): void {
  const known = classes.get(name);
  if (name === "" || (known !== undefined && known.prototype !== prototype)) {
    throw new ToolDefinitionError(`the error class name '${name}' is taken or empty`, {
      code: "definition-invalid",
      attributes: { name },
    });
  }
  classes.set(name, { prototype, build });
  names.set(prototype, name);
}

/**
 * The registered name of exactly this error's class; a subclass that nobody registered has none.
 */
export function classNameOf(error: object): string | undefined {
  try {
    return names.get(Object.getPrototypeOf(error) as object);
  } catch {
    return undefined; // a proxy that throws
  }
}

export function errorClassOf(name: string): ErrorClass | undefined {
  return classes.get(name);
}

export function isRegisteredName(name: string): boolean {
  return classes.has(name);
}

/** Sets data members on an error that has no constructor of ours for them. */
export function withMembers(error: Error, members: Readonly<Record<string, unknown>>): Error {
  for (const [name, value] of Object.entries(members)) {
    const enumerable = name !== "name";
    Object.defineProperty(error, name, { value, enumerable, configurable: true, writable: true });
  }
  return error;
}

function construct(of: ToolErrorClass, { message, code, attributes, retryable }: ErrorInfo): Error {
  return new of(message, { code, attributes, retryable });
}

const platform = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  URIError,
  EvalError,
] as const;

for (const of of platform) {
  enter(of.name, of.prototype, ({ message, attributes, retryable }) =>
    withMembers(new of(message), retryable ? { ...attributes, retryable } : attributes),
  );
}

for (const { name, prototype, build } of layerClasses) enter(name, prototype, build);

for (const of of [
  ToolError,
  ToolArgumentsError,
  ToolDeniedError,
  ToolGuardError,
  ToolDispatchError,
  ToolTimedOutError,
  ToolCancelledError,
  ToolFailedError,
  ToolOutputError,
  ToolDefinitionError,
]) {
  enter(of.errorName, of.prototype, (info) => construct(of, info));
}
