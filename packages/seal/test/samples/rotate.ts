import assert from "node:assert/strict";
import { createKeyring, isSealError, open, seal } from "@holdpoint/seal";

const newKey = (id: string) => ({ id, key: crypto.getRandomValues(new Uint8Array(32)) });
const november = newKey("2026-11");
const december = newKey("2026-12");
const keyring = createKeyring({ current: november });
const sealing = { keyring, purpose: "checkpoint" };
const old = seal("sealed in November", sealing);

keyring.rotate(december); // new seals use it, November's still open
assert.equal(open(old, sealing).keyId, "2026-11");
assert.equal(open(seal("new", sealing), sealing).keyId, "2026-12");

// a reload of configuration: November's key got out
keyring.replace({ current: december, compromised: ["2026-11"] });
assert.throws(
  () => open(old, sealing),
  (error) => isSealError(error, "key-compromised"),
);
