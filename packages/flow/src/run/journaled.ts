import { isSealError, type Sealer } from "@holdpoint/seal";
import { buildsResult, toolFacts, type AnyTool } from "@holdpoint/tools";

import { copyOf, copyOfBuilt } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Kept, Settled } from "./journal.ts";
import type { Parts } from "./parts.ts";

/**
 * What goes into the journal of a result, so that what the node does to the object later changes nothing (FLOW-47): a copy, or
 * its text at once, where it would be encoded in the same turn in any case, or is so large that a text is held more cheaply.
 *
 * An instance of a registered class, or a value of a codec, is copied by sealing it: nobody else knows how. What can't be
 * sealed stays as it is, and the pause, if there is one, names it.
 */
export function journaled(made: Made, outcome: Settled, parts: KeepingParts): Settled {
  if (!outcome.ok || outcome.result.form !== "value") return outcome;
  return { ok: true, result: keptCopy(outcome.result.value, made.tool, parts) };
}

type KeepingParts = Pick<Parts, "sealer" | "exact" | "log">;

/** The copy of one value: of a tool's result, or of what code gave. */
export function keptCopy(given: unknown, tool: AnyTool | undefined, parts: KeepingParts): Kept {
  if (typeof given !== "object" || given === null) return { form: "value", value: given };
  if (!parts.exact) return copied(given, tool, parts);
  // Nobody else has it yet: it is handed out after this.
  const isBuilt = tool !== undefined && buildsResult(tool);
  if (parts.log !== undefined || (tool !== undefined && large.has(tool))) {
    const text = encoded(given, isBuilt, parts.sealer);
    if (text !== undefined) {
      if (tool !== undefined && text.length < largeCharacters) large.delete(tool);
      return { form: "text", text };
    }
  }
  if (!isBuilt) return copied(given, tool, parts);
  const { copy, containers } = copyOfBuilt(given);
  if (containers > largeContainers) large.add(tool);
  return { form: "value", value: copy, own: true };
}

/** Tools whose last result was large. */
const large = new WeakSet<AnyTool>();
/** From here on the objects of a copy take more memory, and the collector more time, than its text. */
const largeContainers = 16;
const largeCharacters = 512;

/** `undefined`: it can't be sealed, and whoever has to seal it says so. */
function encoded(value: unknown, isBuilt: boolean, sealer: Sealer): string | undefined {
  try {
    return isBuilt ? sealer.encodeOwn(value) : sealer.encode(value);
  } catch (error) {
    if (isSealError(error)) return undefined;
    throw error;
  }
}

function copied(given: object, tool: AnyTool | undefined, parts: KeepingParts): Kept {
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
