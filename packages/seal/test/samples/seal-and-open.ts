import assert from "node:assert/strict";
import { createKeyring, isSealError, open, PURPOSES, seal } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node"; // on Node, for long texts; may be left out

const key = crypto.getRandomValues(new Uint8Array(32)); // from your secret store, 16 bytes or more
const keyring = createKeyring({ current: { id: "2026-11", key }, mac: nodeMac });
const sealing = { keyring, purpose: PURPOSES.checkpoint };

const state = { paid: new Map([["A-17", 4200n]]), due: new Date("2026-12-24"), note: undefined };
const text = seal(state, { ...sealing, header: { run: "run_1", revision: 7 } });

const { value, header } = open(text, sealing);
assert.deepEqual(value, state);
assert.deepEqual(header, { run: "run_1", revision: 7 });

try {
  open(text.replace("4200", "42000"), sealing);
  assert.fail("an edited text opened");
} catch (error) {
  assert(isSealError(error, "checkpoint-tampered"));
}
