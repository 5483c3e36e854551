import { SealError } from "../errors.ts";
import { HEADER_MEMBERS_MAX, HEADER_TEXT_MAX } from "../limits.ts";
import { sortTexts } from "../canonical/collection-rows.ts";
import {
  isSafeInteger,
  isWellFormed,
  jsonParse,
  jsonStringify,
  objectKeys,
  pattern,
  setAdd,
  setHas,
  testPattern,
} from "../platform.ts";

/** Flat members of an envelope, readable without its key and covered by its MAC. */
export type Header = Readonly<Record<string, string | number | boolean | null>>;

/** Members that the envelope itself uses. */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set([
  "v",
  "purpose",
  "kid",
  "body",
  "mac",
]);

export const NO_HEADER: Header = Object.freeze({});
const NAME = pattern(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);
// A control character has two spellings in JSON that differ by one bit, and a store may choose.
const CONTROL = pattern(/\p{Cc}/u);
/** Stands in JSON between its quotes as it is: most values do, and then nothing else is looked for. */
const VERBATIM = pattern(/^[ !#-[\]-~]*$/);

/** Names that were good: a program's headers have few, the same each time. */
const goodNames = new Set<string>();
const GOOD_NAMES_MAX = 256;

function isName(name: string): boolean {
  if (setHas(goodNames, name)) return true;
  if (!testPattern(NAME, name)) return false;
  if (goodNames.size < GOOD_NAMES_MAX) setAdd(goodNames, name);
  return true;
}

/** Why a header can't be used, or undefined. */
export function headerProblem(header: Header): string | undefined {
  const names = objectKeys(header);
  if (names.length > HEADER_MEMBERS_MAX)
    return `a header has at most ${HEADER_MEMBERS_MAX} members`;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    if (setHas(RESERVED_MEMBERS, name)) return `header member ${name} is the envelope's own`;
    if (!isName(name)) return "a header's names are 1 to 64 of A-Z a-z 0-9 _, a letter first";
    const problem = valueProblem(header[name]);
    if (problem !== undefined) return `header member ${name} ${problem}`;
  }
  return undefined;
}

function valueProblem(value: unknown): string | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    const exact = isSafeInteger(value) && (value !== 0 || 1 / value > 0);
    return exact ? undefined : "is not a safe integer";
  }
  if (typeof value !== "string") return "is not a string, number, boolean or null";
  if (value.length > HEADER_TEXT_MAX) return `is longer than ${HEADER_TEXT_MAX} characters`;
  if (testPattern(VERBATIM, value)) return undefined;
  return testPattern(CONTROL, value) || !isWellFormed(value)
    ? "holds a control character"
    : undefined;
}

/** Checks a header that is to be written. @throws SealError `option-invalid` */
export function checkHeader(header: Header): void {
  const problem = headerProblem(header);
  if (problem !== undefined) throw new SealError("option-invalid", problem);
}

/** The bytes that stand for a header under the MAC: its JSON, names sorted, whatever its order was. */
export function headerText(header: Header): string {
  const names = objectKeys(header);
  sortTexts(names);
  let text = "{";
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    text += `${i === 0 ? "" : ","}"${name}":${jsonStringify(header[name])}`;
  }
  return `${text}}`;
}

/** The header of such a text; undefined for any other one, and where a header may not be like this. */
export function headerAsWritten(text: string): Header | undefined {
  if (text === "{}") return NO_HEADER;
  let header: unknown;
  try {
    header = jsonParse(text);
  } catch {
    return undefined;
  }
  // A text between brackets is an object. One that gives a name twice, or spells something otherwise, prints another text.
  const given = header as Header;
  const isGood = headerProblem(given) === undefined && isSorted(objectKeys(given));
  return isGood && jsonStringify(given) === text ? given : undefined;
}

function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if (names[i - 1]! > names[i]!) return false;
  return true;
}
