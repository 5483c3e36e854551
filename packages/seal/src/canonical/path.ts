import { PATH_SEGMENT_CHARS, PATH_SEGMENTS_SHOWN } from "../limits.ts";
import { jsonStringify, pattern, sliceText, testPattern } from "../platform.ts";

/**
 * One step of a path: a key, an index, or a place that neither names (`keys(0)` of a map).
 * Recorded as it is met, formatted only when something fails.
 */
export type Segment = string | number | { readonly place: string };

/** A step of a path that names nothing. */
export const SELF: Segment = { place: "" };

const IDENTIFIER = pattern(/^[A-Za-z_$][A-Za-z0-9_$]*$/);

/** `order.items[3].price`, of the steps from one place to another; a long path keeps its two ends, a long key its beginning. */
export function formatPath(segments: readonly Segment[], from: number, to: number): string {
  let count = 0;
  for (let i = from; i < to; i++) if (segments[i] !== SELF) count++;
  const half = PATH_SEGMENTS_SHOWN / 2;
  const whole = count <= PATH_SEGMENTS_SHOWN;
  let head = "";
  let tail = "";
  let at = 0;
  for (let i = from; i < to; i++) {
    const segment = segments[i]!;
    if (segment === SELF) continue;
    if (whole || at < half) head += formatSegment(segment, at);
    else if (at >= count - half) tail += formatSegment(segment, at - (count - half));
    at++;
  }
  return whole ? head : `${head} … ${tail}`;
}

function formatSegment(segment: Segment, index: number): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (typeof segment === "object") return index === 0 ? segment.place : `.${segment.place}`;
  if (segment.length <= PATH_SEGMENT_CHARS && testPattern(IDENTIFIER, segment)) {
    return index === 0 ? segment : `.${segment}`;
  }
  const long = segment.length > PATH_SEGMENT_CHARS;
  return `[${jsonStringify(long ? `${sliceText(segment, 0, PATH_SEGMENT_CHARS)}…` : segment)}]`;
}
