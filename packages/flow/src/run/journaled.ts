import { isSealError, type Sealer } from "@holdpoint/seal";
import { toolFacts } from "@holdpoint/tools";

import { copyOf } from "./copy.ts";
import type { Made } from "./identity.ts";
import type { Settled } from "./journal.ts";

/**
 * What goes into the journal of a result: a copy, so that what the node does to the object later changes nothing (FLOW-47).
 *
 * An instance of a registered class, or a value of a codec, is copied by sealing it: nobody else knows how. What can't be
 * sealed stays as it is, and the pause, if there is one, names it.
 */
export function journaled(made: Made, outcome: Settled, sealer: Sealer, exact: boolean): Settled {
  if (!outcome.ok || outcome.result.form !== "value") return outcome;
  let opaque = false;
  const value = copyOf(outcome.result.value, () => (opaque = true));
  const text = opaque && !exact ? textOf(made, value, sealer) : undefined;
  return {
    ok: true,
    result: text === undefined ? { form: "value", value } : { form: "text", text },
  };
}

function textOf(made: Made, value: unknown, sealer: Sealer): string | undefined {
  try {
    const text = sealer.encode(value);
    if (made.tool === undefined) return undefined; // a step's is read by the state's schema, at the pause
    sealer.assertLoadable(text, { schema: toolFacts(made.tool).output });
    return text;
  } catch (error) {
    if (isSealError(error)) return undefined;
    throw error;
  }
}
