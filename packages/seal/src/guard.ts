/**
 * The known answer: what a fixed value must be written as, and read back from (SEAL-26).
 *
 * Built-ins patched after import don't matter, the codec has its own references. What was patched
 * before import is in those references: then this value comes out otherwise, and nothing is sealed.
 */
import { SealError } from "./errors.ts";
import { arrayPrototype, charCodeAt, getNames, isDigit, objectPrototype } from "./platform.ts";

const TEXT =
  '{"b":[1.5,"\\u001f\\"é😀",null,{"$num":"-0"},{"$bigint":"-12"},{"$undefined":true}],' +
  '"a":{"$map":[["y",{"$set":["z","x"]}],["w",true]]},"d":{"$date":"1970-01-01T00:00:00.001Z"},' +
  '"t":{"$uint16":"AgABAA"},"f":{"$float64":"AAAAAAAA-D8"},"s":{"$utf16":"AAA"},' +
  '"o":{"$object":[["__proto__",1],["$x",2]]}}';
const CANONICAL =
  '{"a":{"$map":[["w",true],["y",{"$set":["x","z"]}]]},"b":[1.5,"\\u001f\\"é😀",null,{"$num":"-0"},' +
  '{"$bigint":"-12"},{"$undefined":true}],"d":{"$date":"1970-01-01T00:00:00.001Z"},' +
  '"f":{"$float64":"AAAAAAAA-D8"},"o":{"$object":[["$x",2],["__proto__",1]]},' +
  '"s":{"$utf16":"AAA"},"t":{"$uint16":"AgABAA"}}';

function sample(): unknown {
  const odd = Object.create(null) as Record<string, unknown>;
  odd["__proto__"] = 1;
  odd["$x"] = 2;
  return {
    b: [1.5, '\u001f"é😀', null, -0, -12n, undefined],
    a: new Map<string, unknown>([
      ["y", new Set(["z", "x"])],
      ["w", true],
    ]),
    d: new Date(1),
    t: Uint16Array.of(2, 1),
    f: Float64Array.of(1.5),
    s: "\0",
    o: odd,
  };
}

/** One, two, three and four bytes a character. */
const HASHED = "holdpoint é✓😀";
const DIGEST = "ffCN9XFsyIrHA9lkxkYCqk9L8chbfBnz_aRj047y48E";

export interface PlainCodec {
  write(value: unknown): string;
  canonical(value: unknown): string;
  read(text: string): unknown;
}

/** @throws SealError `platform-altered` */
export function checkDigest(digest: (text: string) => string): void {
  let answer: string;
  try {
    answer = digest(HASHED);
  } catch (cause) {
    throw altered("SHA-256 threw", cause);
  }
  if (answer !== DIGEST) throw altered("SHA-256 gives another answer");
}

/** @throws SealError `platform-altered` */
export function checkPlatform(codec: PlainCodec): void {
  let same: boolean;
  try {
    const again = codec.read(TEXT);
    same =
      codec.write(sample()) === TEXT &&
      codec.canonical(again) === CANONICAL &&
      codec.write(again) === TEXT;
  } catch (cause) {
    throw altered("a built-in that the codec stands on threw", cause);
  }
  if (!same) throw altered("a built-in that the codec stands on gives another answer");
}

/**
 * What plain values must not inherit: a `toJSON` would be called by the native writer, and an element would
 * stand in for what is put into a list at its place. @throws `platform-altered`
 */
export function checkPrototypes(): void {
  if ("toJSON" in arrayPrototype || hasElements()) {
    throw altered(
      "Object.prototype or Array.prototype has a member that would change what is written",
    );
  }
}

function hasElements(): boolean {
  // The prototype of lists is a list itself: its length tells, but stays when the element is gone.
  return (
    (arrayPrototype.length > 0 && startsWithIndex(arrayPrototype)) ||
    startsWithIndex(objectPrototype)
  );
}

/** Indexes come first among names. */
function startsWithIndex(prototype: object): boolean {
  return isDigit(charCodeAt(getNames(prototype)[0]!, 0));
}

function altered(what: string, cause?: unknown): SealError {
  return new SealError("platform-altered", `nothing is sealed: ${what}`, { cause });
}
