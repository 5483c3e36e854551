// Without any peer: what was sealed opens unchanged, or not at all.
import { isSealError, keyringOf, open, seal } from "@holdpoint/seal";

const keyring = keyringOf(new Uint8Array(32).fill(7));
const order = { id: "A-17", cents: 1234n, at: new Date(0), lines: new Map([["tea", -0]]) };
const text = seal(order, { keyring, purpose: "checkpoint" });

const { value } = open(text, { keyring, purpose: "checkpoint" });
const opened = value as typeof order;
if (
  opened.cents !== 1234n ||
  opened.at.getTime() !== 0 ||
  !Object.is(opened.lines.get("tea"), -0)
) {
  throw new Error("the opened order differs");
}

let refusal: unknown;
try {
  open(text.replace("A-17", "A-18"), { keyring, purpose: "checkpoint" });
} catch (error) {
  refusal = error;
}
if (!isSealError(refusal)) throw new Error("a changed text opened");
