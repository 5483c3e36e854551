import { PATH_SEGMENT_CHARS, PATH_SEGMENTS_SHOWN } from "../limits.ts";

/**
 * One step of a path: a key, an index, or a place that neither names (`keys(0)` of a map).
 * Recorded as it is met, formatted only when something fails.
 */
export type Segment = string | number | { readonly place: string };

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** `order.items[3].price`; a long path keeps its two ends, a long key its beginning. */
export function formatPath(segments: readonly Segment[]): string {
  if (segments.length <= PATH_SEGMENTS_SHOWN) return segments.map(formatSegment).join("");
  const half = PATH_SEGMENTS_SHOWN / 2;
  const head = segments.slice(0, half).map(formatSegment).join("");
  const tail = segments.slice(-half).map(formatSegment).join("");
  return `${head} … ${tail}`;
}

function formatSegment(segment: Segment, index: number): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (typeof segment === "object") return index === 0 ? segment.place : `.${segment.place}`;
  if (IDENTIFIER.test(segment) && segment.length <= PATH_SEGMENT_CHARS) {
    return index === 0 ? segment : `.${segment}`;
  }
  const shown =
    segment.length > PATH_SEGMENT_CHARS ? `${segment.slice(0, PATH_SEGMENT_CHARS)}…` : segment;
  return `[${JSON.stringify(shown)}]`;
}
