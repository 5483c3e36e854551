/**
 * Large texts once (FLOW-73): an entry that repeats a longer part of an earlier one of its run is kept as what is new in it
 * and where the rest stands. So a state that grows by a line a round costs a line a round, whatever is written of it.
 *
 * C1 It is below the seal: the seal covers the whole text, and what is kept is made whole before it is verified. A part taken
 *    from a wrong place gives a text that does not verify.
 * C2 A place is an entry's revision, a start and a length in its whole text. Only earlier entries are named, so each text is
 *    made whole in one pass, and its length is known and bounded before it is made.
 * C3 What was added for a commit that did not stand is taken out again (`mark`, `takeBack`): nothing names an entry that is
 *    not there.
 * C4 No character is cut in two: a store keeps no half of one.
 */
import { checkpointCharsMax } from "../limits.ts";
import { hashChars, Marks } from "./gear.ts";

/** Texts shorter than this are kept as they are: most entries are. */
const cutCharsMin = 1_024;
/** A repetition has to be worth the words that say where it stands. */
const repeatCharsMin = 128;
/** How far one that is worth it goes on, on one side at least, from a block that was looked up. */
const reach = (repeatCharsMin - hashChars) / 2;
/** How much of earlier texts is remembered, in characters; older ones are not named any more. */
const rememberedCharsMax = 4 * 1024 * 1024;
const slotCount = 1 << 16;

/** A text, and its places that can be found again: where each begins, and its hash. */
interface Remembered {
  readonly revision: number;
  readonly text: string;
  readonly from: readonly number[];
  readonly hash: readonly number[];
}

/** For each of some hashes the place that was seen last: the number of its text, and where it begins in it. */
interface Slots {
  readonly hash: Int32Array;
  readonly text: Int32Array;
  readonly from: Int32Array;
}

/** A part of an earlier text, and where it begins in what is kept of this one. */
interface Repeat {
  readonly revision: number;
  readonly from: number;
  readonly length: number;
  /** Characters of the new parts before it. */
  readonly at: number;
}

/** What a run's log holds so far, for finding repetitions. */
export class Repeats {
  #texts: Remembered[] = [];
  /** Texts forgotten before the first of `#texts`: they are numbered from the run's beginning on. */
  #gone = 0;
  #chars = 0;
  /** Made when the first long text comes. */
  #slots: Slots | undefined;

  /** What is kept of the text of entry `revision`, which is remembered. */
  cut(revision: number, text: string): string {
    if (text.length < cutCharsMin) return text;
    const from: number[] = [];
    const hash: number[] = [];
    const repeats = this.#walk(text, from, hash);
    this.#remember({ revision, text, from, hash });
    return repeats.length === 0 ? text : keptText(text, repeats);
  }

  /** How many texts there were, for `takeBack`. */
  mark(): number {
    return this.#gone + this.#texts.length;
  }

  /** C3 */
  takeBack(mark: number): void {
    const kept = Math.max(0, mark - this.#gone);
    for (const { text } of this.#texts.splice(kept)) this.#chars -= text.length;
  }

  /** Forgets all: what comes next names nothing before it. */
  clear(): void {
    this.#forget(this.#texts.length);
  }

  #forget(count: number): void {
    for (const { text } of this.#texts.splice(0, count)) this.#chars -= text.length;
    this.#gone += count;
  }

  #remember(remembered: Remembered): void {
    this.#chars += remembered.text.length;
    const number = this.#gone + this.#texts.push(remembered) - 1;
    this.#forget(agedOut(this.#texts, this.#chars));
    const slots = (this.#slots ??= {
      hash: new Int32Array(slotCount),
      text: new Int32Array(slotCount).fill(-1),
      from: new Int32Array(slotCount),
    });
    // From behind: of equal places of one text the first stays, since more of what follows is equal too.
    for (let at = remembered.from.length - 1; at >= 0; at -= 1) {
      const hash = remembered.hash[at]!;
      const slot = slotOf(hash);
      slots.hash[slot] = hash;
      slots.text[slot] = number;
      slots.from[slot] = remembered.from[at]!;
    }
  }

  /** Finds what a text repeats, and on the way the places by which others will find it. */
  #walk(text: string, places: number[], hashes: number[]): Repeat[] {
    const repeats: Repeat[] = [];
    let newChars = 0;
    let fresh = 0; // where the new part began
    const marks = new Marks(text);
    let next = 0;
    while (marks.find(next)) {
      const { place: at, hash } = marks;
      const found = this.#found(hash, text, { at, fresh });
      if (found === undefined) {
        places.push(at);
        hashes.push(hash);
        next = at + 1;
        continue;
      }
      const { start, from, length, earlier } = found;
      newChars += start - fresh;
      repeats.push({ revision: earlier.revision, from, length, at: newChars });
      for (let place = firstFrom(earlier.from, from); place < earlier.from.length; place += 1) {
        const begins = earlier.from[place]!;
        if (begins + hashChars > from + length) break;
        places.push(begins - from + start);
        hashes.push(earlier.hash[place]!);
      }
      next = fresh = start + length;
    }
    return repeats;
  }

  /** The repetition at a place, made as long as it is on both sides; `undefined`: there is none worth it. */
  #found(
    hash: number,
    text: string,
    { at, fresh }: { readonly at: number; readonly fresh: number },
  ) {
    const slots = this.#slots;
    const slot = slotOf(hash);
    if (slots === undefined || slots.hash[slot] !== hash) return undefined;
    const earlier = this.#texts[slots.text[slot]! - this.#gone];
    if (earlier === undefined) return undefined; // forgotten, or taken back
    const place = slots.from[slot]!;
    const goesOn =
      isSame(text, at + hashChars, earlier.text, place + hashChars) ||
      (at - reach >= fresh && isSame(text, at - reach, earlier.text, place - reach));
    if (!goesOn) return undefined;
    let end = at + sameFrom(text, at, earlier.text, place);
    let start = at - sameBefore(text, at, earlier.text, place, at - fresh);
    // C4
    if (isHalf(text, end)) end -= 1;
    if (isHalf(text, start)) start += 1;
    const length = end - start;
    if (length < repeatCharsMin) return undefined;
    return { start, from: place - (at - start), length, earlier };
  }
}

/** Whether the next `reach` characters are there and equal: compared by the platform, far faster than one by one. */
function isSame(a: string, at: number, b: string, from: number): boolean {
  if (from < 0 || at + reach > a.length) return false;
  return a.slice(at, at + reach) === b.slice(from, from + reach);
}

/** How many characters are equal from these places on. */
function sameFrom(a: string, at: number, b: string, from: number): number {
  const most = Math.min(a.length - at, b.length - from);
  let equal = 0;
  // Most are short: one by one, without a text made of either.
  const few = Math.min(most, repeatCharsMin);
  while (equal < few && a.charCodeAt(at + equal) === b.charCodeAt(from + equal)) equal += 1;
  if (equal < few) return equal;
  // Long parts are compared by the platform, far faster than one by one.
  let step = 256;
  while (equal + step <= most) {
    const until = equal + step;
    if (a.slice(at + equal, at + until) !== b.slice(from + equal, from + until)) break;
    equal = until;
    if (step < 65_536) step *= 2;
  }
  while (equal < most && a.charCodeAt(at + equal) === b.charCodeAt(from + equal)) equal += 1;
  return equal;
}

/** How many are equal right before these places. */
function sameBefore(a: string, at: number, b: string, from: number, most: number): number {
  let equal = 0;
  const bound = Math.min(most, from);
  while (equal < bound && a.charCodeAt(at - equal - 1) === b.charCodeAt(from - equal - 1))
    equal += 1;
  return equal;
}

/** The first of ascending numbers that is not below another. */
function firstFrom(ascending: readonly number[], from: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of these texts, the oldest first, are too long ago to be named; the last one never is. */
function agedOut(texts: readonly Remembered[], chars: number): number {
  let gone = 0;
  let left = chars;
  if (left <= rememberedCharsMax) return 0;
  while (left > rememberedCharsMax / 2 && gone < texts.length - 1)
    left -= texts[gone++]!.text.length;
  return gone;
}

/** Whether a character is cut in two before this place. */
function isHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function slotOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 16;
}

/** `~<length> <revision>.<from>.<length>.<at> …` and, after a line feed, the new parts. No seal begins so. */
function keptText(text: string, repeats: readonly Repeat[]): string {
  let fresh = "";
  let at = 0;
  for (const repeat of repeats) {
    const start = at + (repeat.at - fresh.length);
    fresh += text.slice(at, start);
    at = start + repeat.length;
  }
  fresh += text.slice(at);
  const places = repeats.map(({ revision, from, length, at: after }) =>
    [revision, from, length, after].join("."),
  );
  return `~${text.length} ${places.join(" ")}\n${fresh}`;
}

const headForm = /^~(\d{1,9})((?: \d{1,12}\.\d{1,9}\.\d{1,9}\.\d{1,9})+)$/;

/**
 * The whole text of an entry. `earlier`: the whole text of an earlier one. `undefined`: what is kept names what is not there, or
 * says of itself what can't be (C2).
 */
export function madeWhole(
  kept: string,
  earlier: (revision: number) => string | undefined,
): string | undefined {
  if (!kept.startsWith("~")) return kept;
  const line = kept.indexOf("\n");
  const head = headForm.exec(kept.slice(0, line === -1 ? 0 : line));
  if (head === null) return undefined;
  const length = Number(head[1]);
  if (length > checkpointCharsMax) return undefined;
  const fresh = kept.slice(line + 1);
  const parts: string[] = [];
  let used = 0;
  let chars = 0;
  for (const place of head[2]!.trim().split(" ")) {
    const [revision, from, size, at] = place.split(".").map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const source = earlier(revision);
    if (source === undefined || at < used || at > fresh.length) return undefined;
    if (from + size > source.length) return undefined;
    chars += at - used + size;
    if (chars > length) return undefined; // C2: before it is built
    parts.push(fresh.slice(used, at), source.slice(from, from + size));
    used = at;
  }
  chars += fresh.length - used;
  if (chars !== length) return undefined;
  parts.push(fresh.slice(used));
  return parts.join("");
}
