import { decode, encode } from "@holdpoint/seal";

import { classNameOf, errorClassOf, isRegisteredName, withMembers } from "./error-class.ts";
import { isToolError, ToolFailedError } from "./errors.ts";
import {
  attributeCharactersMax,
  attributesMax,
  errorNameCharactersMax,
  messageCharactersMax,
} from "./limits.ts";

/**
 * A failure as plain data: what is journaled, sent and rebuilt. Bounded; holds no arguments of the
 * call.
 */
export interface ErrorInfo {
  /** The class's registered name: rebuilding makes an instance of it. */
  readonly name: string;
  /** A closed code where the class has one, else `failed`. */
  readonly code: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether trying again may help, by the one who threw. */
  readonly retryable: boolean;
  /** Names of attributes that could not be sealed and were left out (TOOL-04). */
  readonly omitted?: readonly string[];
}

/** The errors of every layer carry a mark and a closed code. */
const brands = ["seal", "approvals", "tools", "flow", "workflows"].map((layer) =>
  Symbol.for(`@holdpoint/${layer}.error`),
);
/** What an error's own properties hold besides attributes. */
const ownMembers = new Set(["name", "message", "stack", "cause", "retryable", "attributes"]);

/**
 * What was thrown, as bounded plain data. Total: a string, `undefined`, a frozen object, throwing
 * getters, ten megabytes of text or a revoked proxy all become one (TOOL-04).
 */
export function errorInfo(thrown: unknown): ErrorInfo {
  if (typeof thrown !== "object" || thrown === null) {
    return { name: "ToolFailedError", ...bare, message: bounded(spoken(thrown)) };
  }
  const foreign = !brands.some((mark) => has(thrown, mark));
  const code = foreign ? undefined : read(thrown, "code");
  const message = read(thrown, "message");
  const { attributes, omitted } = attributesOf(thrown, foreign);
  const name = nameOf(thrown);
  return {
    name,
    code: typeof code === "string" ? code.slice(0, errorNameCharactersMax) : "failed",
    message: bounded(typeof message === "string" ? told(message, name) : "an object was thrown"),
    attributes,
    retryable: read(thrown, "retryable") === true,
    ...(omitted.length > 0 && { omitted }),
  };
}

const bare = { code: "failed", attributes: {}, retryable: false } as const;

/**
 * The error again: the same class, message and attributes, whether it is live or replayed
 * (FLOW-32).
 */
export function rebuildError(info: ErrorInfo): Error {
  const known = errorClassOf(info.name);
  if (known !== undefined) return known.build(info);
  const { code, message, attributes, retryable } = info;
  const error = new ToolFailedError(message, { code, attributes, retryable });
  // Callers that branch on a library's own `name`, `code` or other members find them.
  return withMembers(error, { ...attributes, name: info.name });
}

function attributesOf(
  thrown: object,
  foreign: boolean,
): { attributes: Record<string, unknown>; omitted: string[] } {
  const own = isToolError(thrown) ? read(thrown, "attributes") : thrown;
  const attributes: Record<string, unknown> = {};
  const omitted: string[] = [];
  const from = typeof own === "object" && own !== null ? own : {};
  for (const name of keysOf(from)) {
    if (from === thrown && (ownMembers.has(name) || (name === "code" && !foreign))) continue;
    const property = descriptor(from, name);
    if (property !== undefined && "value" in property && property.value === undefined) continue;
    const room =
      name.length <= errorNameCharactersMax && Object.keys(attributes).length < attributesMax;
    const sealed = room ? sealable(name, property) : undefined;
    if (sealed !== undefined) attributes[name] = sealed.value;
    else if (omitted.length < attributesMax) omitted.push(name.slice(0, errorNameCharactersMax));
  }
  return { attributes, omitted };
}

/**
 * An attribute as it comes back from being sealed, so that a live error has what its replay will
 * have.
 */
function sealable(
  name: string,
  property: PropertyDescriptor | undefined,
): { value: unknown } | undefined {
  // An accessor would run the thrower's code, now and not at the replay.
  if (property === undefined || !("value" in property) || name === "__proto__") return undefined;
  const value: unknown = property.value;
  if (typeof value === "string" && value.length > attributeCharactersMax) return undefined;
  try {
    const text = encode(value);
    return text.length > attributeCharactersMax ? undefined : { value: decode(text) };
  } catch {
    return undefined;
  }
}

function nameOf(thrown: object): string {
  const registered = classNameOf(thrown);
  if (registered !== undefined) return registered;
  // Another copy of this package has the same classes under the same names.
  const own = read(thrown, "name");
  if (isToolError(thrown) && typeof own === "string" && isRegisteredName(own)) return own;
  const constructorName = read(read(thrown, "constructor"), "name");
  for (const name of [own, constructorName]) {
    // A class that kept its parent's name is not its parent: rebuilding must not make one.
    if (typeof name === "string" && name !== "" && !isRegisteredName(name) && name !== "Object") {
      return name.slice(0, errorNameCharactersMax);
    }
  }
  return "ToolFailedError";
}

// Nodes, steps and listeners throw too: what was thrown is told without saying by what.
function spoken(thrown: unknown): string {
  if (typeof thrown === "string") return isBlank(thrown) ? "an empty text was thrown" : thrown;
  if (typeof thrown === "function") return "a function was thrown";
  return `${String(thrown)} was thrown`;
}

/** A message, or, where there is none, the class at least: whoever appends it has something to say. */
function told(message: string, name: string): string {
  if (!isBlank(message)) return message;
  return `${/^[AEIO]/i.test(name) ? "an" : "a"} ${name} without a message`;
}

function isBlank(text: string): boolean {
  return text.length <= messageCharactersMax && text.trim() === "";
}

function bounded(message: string): string {
  if (message.length <= messageCharactersMax) return message;
  return `${message.slice(0, messageCharactersMax)}… (${message.length} characters)`;
}

function read(from: unknown, name: string): unknown {
  if ((typeof from !== "object" || from === null) && typeof from !== "function") return undefined;
  try {
    return (from as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

function has(from: object, name: symbol): boolean {
  try {
    return name in from;
  } catch {
    return false;
  }
}

function keysOf(from: object): readonly string[] {
  try {
    return Object.keys(from);
  } catch {
    return [];
  }
}

function descriptor(from: object, name: string): PropertyDescriptor | undefined {
  try {
    return Object.getOwnPropertyDescriptor(from, name);
  } catch {
    return undefined;
  }
}
