import { isSealError, type Sealer } from "@holdpoint/seal";
import { toolFacts, type AnyTool } from "@holdpoint/tools";

import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Kept, Settled } from "./journal.ts";
import type { Parts } from "./parts.ts";

/**
 * What goes into the journal of a result: a copy, so that what the node does to the object later changes nothing (FLOW-47).
 *
 * An instance of a registered class, or a value of a codec, is copied by sealing it: nobody else knows how. What can't be
 * sealed stays as it is, and the pause, if there is one, names it.
 */
export function journaled(made: Made, outcome: Settled, parts: KeepingParts): Settled {
  if (!outcome.ok || outcome.result.form !== "value") return outcome;
  return { ok: true, result: keptCopy(outcome.result.value, made.tool, parts) };
}

type KeepingParts = Pick<Parts, "sealer" | "exact">;

/** The copy of one value: of a tool's result, or of what code gave. */
export function keptCopy(given: unknown, tool: AnyTool | undefined, parts: KeepingParts): Kept {
  let opaque = false;
  const value = copyOf(given, () => (opaque = true));
  const text = opaque && !parts.exact ? textOf(tool, value, parts.sealer) : undefined;
  return text === undefined ? { form: "value", value } : { form: "text", text };
}

function textOf(tool: AnyTool | undefined, value: unknown, sealer: Sealer): string | undefined {
  try {
    const text = sealer.encode(value);
    if (tool === undefined) return undefined; // read by the state's schema, at the pause
    sealer.assertLoadable(text, { schema: toolFacts(tool).output });
    return text;
  } catch (error) {
    if (isSealError(error)) return undefined;
    throw error;
  }
}
