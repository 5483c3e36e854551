import type { ErrorInfo } from "./error-info.ts";

/** What stands where a secret was. */
export const MASK = "[secret]";

/**
 * `card.number` as segments, or `undefined` where it is none. A segment `*` is any key or element.
 */
export function parsePath(path: string): readonly string[] | undefined {
  const segments = path.split(".");
  return segments.every((segment) => segment !== "") ? segments : undefined;
}

/**
 * A copy of `value` in which everything at these paths is masked (TOOL-11). Arrays, sets and maps
 * on the way are gone through whether or not the path names an element, so a path that forgot them
 * masks too much and never too little.
 */
export function redact(value: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0) return value;
  return mask(
    value,
    secrets.map((path) => path.split(".")),
    new Set(),
  );
}

function mask(value: unknown, paths: readonly (readonly string[])[], above: Set<object>): unknown {
  if (paths.some((path) => path.length === 0)) return value === undefined ? undefined : MASK;
  if (typeof value !== "object" || value === null || paths.length === 0) return value;
  if (above.has(value)) return MASK; // a cycle: what is in there can't be told
  above.add(value);
  try {
    return maskInside(value, paths, above);
  } finally {
    above.delete(value);
  }
}

function maskInside(
  value: object,
  paths: readonly (readonly string[])[],
  above: Set<object>,
): unknown {
  const into = (name: string, item: unknown, passes: boolean): unknown =>
    mask(item, stepped(paths, name, passes), above);
  if (Array.isArray(value)) return value.map((item, at) => into(String(at), item, true));
  if (value instanceof Set) return new Set([...value].map((item) => into("*", item, true)));
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [key, into(String(key), item, true)]));
  }
  const names = Object.keys(value);
  // An instance keeps its class only where nothing in it is masked.
  const masked = names.map((name) => [
    name,
    into(name, (value as Record<string, unknown>)[name], false),
  ]);
  return Object.fromEntries(masked) as unknown;
}

/**
 * What is left of the paths one step further in; an element that a path does not name keeps the
 * whole path.
 */
function stepped(
  paths: readonly (readonly string[])[],
  name: string,
  passes: boolean,
): readonly (readonly string[])[] {
  const left: (readonly string[])[] = [];
  for (const path of paths) {
    if (path[0] === name || path[0] === "*") left.push(path.slice(1));
    else if (passes) left.push(path);
  }
  return left;
}

/**
 * Takes the secrets of these arguments out of a text that somebody else wrote, as an error's
 * message. Short ones stay: their every occurrence in prose would be masked, and they give nothing
 * away.
 */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, MASK);
  return clean;
}

/**
 * The texts that secret arguments may show up as: strings and numbers at or under the paths,
 * longest first.
 */
export function secretTexts(value: unknown, secrets: readonly string[]): readonly string[] {
  const texts = new Set<string>();
  collect(value, redact(value, secrets), texts);
  return [...texts].sort((a, b) => b.length - a.length);
}

const secretCharactersMin = 3;

function collect(whole: unknown, masked: unknown, texts: Set<string>): void {
  if (masked === MASK && whole !== MASK) leaves(whole, texts, new Set());
  else if (whole instanceof Map && masked instanceof Map) {
    for (const [key, item] of whole) collect(item, masked.get(key), texts);
  } else if (whole instanceof Set && masked instanceof Set) {
    const others = [...masked];
    [...whole].forEach((item, at) => collect(item, others[at], texts));
  } else if (typeof whole === "object" && whole !== null && whole !== masked) {
    const from = whole as Readonly<Record<string, unknown>>;
    const other = masked as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(from)) collect(from[name], other[name], texts);
  }
}

function leaves(value: unknown, texts: Set<string>, above: Set<object>): void {
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
    const text = String(value);
    if (text.length >= secretCharactersMin) texts.add(text);
  } else if (typeof value === "object" && value !== null && !above.has(value)) {
    above.add(value);
    const inside = value instanceof Map || value instanceof Set ? value : Object.values(value);
    for (const item of inside as Iterable<unknown>) leaves(item, texts, above);
  }
}

/** A failure without the secrets of its call's arguments, whoever put them into it. */
export function infoWithoutSecrets(info: ErrorInfo, secrets: readonly string[]): ErrorInfo {
  if (secrets.length === 0) return info;
  return {
    ...info,
    message: withoutSecrets(info.message, secrets),
    attributes: cleaned(info.attributes, secrets) as ErrorInfo["attributes"],
  };
}

/** Attributes are bounded, sealable data without cycles. */
function cleaned(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return withoutSecrets(value, secrets);
  if (typeof value === "number" || typeof value === "bigint") {
    return secrets.includes(String(value)) ? MASK : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, secrets));
  if (value instanceof Set) return new Set([...value].map((item) => cleaned(item, secrets)));
  if (value instanceof Map) {
    return new Map(
      [...value].map(([key, item]) => [cleaned(key, secrets), cleaned(item, secrets)]),
    );
  }
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
    return value;
  const entries = Object.entries(value).map(
    ([name, item]) => [name, cleaned(item, secrets)] as const,
  );
  return Object.fromEntries(entries);
}
