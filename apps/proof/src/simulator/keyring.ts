import { createKeyring, type Mac, type MacKey } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";

/** Texts whose MACs are kept; more than a world writes. */
const keptMax = 4_000;

/**
 * Node's MAC, each computed once: every process of a world verifies what another one sealed, over and over. What is
 * answered is the MAC of that very text, so nothing passes that would not pass without.
 */
const keptMac: Mac = {
  prepare(key: Uint8Array): MacKey {
    const mac = nodeMac.prepare(key);
    const kept = new Map<string, string>();
    return (head, body) => {
      const text = head + body; // the head says how long the body is: no two pairs make one text
      const known = kept.get(text);
      if (known !== undefined) return known;
      if (kept.size >= keptMax) kept.clear();
      const made = mac(head, body);
      kept.set(text, made);
      return made;
    };
  },
};

/** The keyring of every simulated world. */
export const keyring = createKeyring({
  current: { id: "k1", key: new Uint8Array(32).fill(7) },
  mac: keptMac,
});
