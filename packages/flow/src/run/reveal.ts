import type { Sealer } from "@holdpoint/seal";

import { FlowError } from "../errors.ts";
import { copyOf } from "./copy.ts";
import type { Kept } from "./journal.ts";

/** A kept value's text, by which two are equal. */
export function keptAsText(kept: Kept, sealer: Sealer): string {
  if (kept.form === "text") return kept.text;
  if (kept.form === "lost") return sealer.encode(undefined);
  return kept.known?.text ?? sealer.encode(kept.value);
}

/**
 * A kept value as somebody gets it: decoded by what the given schemas reach, or a copy, since the journal's own value is
 * nobody's to change. @throws FlowError `state-not-sealable` for one that was lost (FLOW-27)
 */
export function revealed(
  kept: Kept,
  sealer: Sealer,
  schema: unknown,
  where: { readonly runId: string; readonly node: string },
): unknown {
  switch (kept.form) {
    case "value":
      return copyOf(kept.value);
    case "text":
      return sealer.decode(kept.text, { schema });
    case "lost":
      throw new FlowError(
        "state-not-sealable",
        `a result in ${where.node} could not be sealed, so it can't be replayed: ${kept.why}`,
        { ...where, ...(kept.path !== undefined && { path: kept.path }) },
      );
  }
}
