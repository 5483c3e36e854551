import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

/** The keyring of every simulated world. */
export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: nodeMac,
});
