import assert from "node:assert/strict";
import { createKeyring, open, seal } from "@holdpoint/seal";
import { aesGcm, nodeMac } from "@holdpoint/seal/node";

const key = crypto.getRandomValues(new Uint8Array(32));
const keyring = createKeyring({ current: { id: "k1", key }, mac: nodeMac, cipher: aesGcm });
const text = seal({ iban: "DE02 1203" }, { keyring, purpose: "checkpoint" });

assert(!text.includes("iban"));
assert.deepEqual(open(text, { keyring, purpose: "checkpoint" }).value, { iban: "DE02 1203" });
