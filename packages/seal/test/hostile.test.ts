import { describe, expect, it } from "vitest";

import { decode, encode, keyringOf, open, sign, verify } from "../src/index.ts";
import { nodeMac } from "../src/node.ts";
import { createKeyring } from "../src/index.ts";
import { refusalCode } from "./refusal.ts";
import { HOSTILE } from "./hostile-texts.ts";

const options = {
  keyring: createKeyring({ current: { id: "k1", key: new Uint8Array(32) }, mac: nodeMac }),
  purpose: "checkpoint",
};

function spent(run: () => unknown): number {
  const start = performance.now();
  try {
    run();
  } catch {
    // Refused or taken: the time counts.
  }
  return performance.now() - start;
}

/** The machine of CI is slower and noisier than the one the bound is stated for. */
const SLACK = 3;

describe("hostile texts end within bounds", () => {
  it.each(HOSTILE)("SEAL-26 P11 $name: a typed end, linear in the text", ({ make, ends }) => {
    const small = make(100_000);
    const large = make(1_000_000);
    expect(ends === "taken" ? encode(decode(small)) : refusalCode(() => decode(small))).toBe(
      ends === "taken" ? small : "seal-malformed",
    );
    const times = [0, 1, 2].map(() => spent(() => decode(large)));
    expect(Math.min(...times)).toBeLessThan(200 * SLACK);
  });

  it.each(HOSTILE.filter(({ name }) => name !== "unpaired surrogates"))(
    "SEAL-26 P11 $name: never parsed under a seal that doesn't hold",
    ({ make }) => {
      const body = make(1_000_000);
      const forged = sign(body, {
        ...options,
        keyring: keyringOf(new Uint8Array(32).fill(9)),
      }).text;
      const times = [0, 1, 2].map(() => spent(() => open(forged, options)));
      expect(refusalCode(() => open(forged, options))).toBe("checkpoint-tampered");
      expect(Math.min(...times)).toBeLessThan((50 * SLACK * forged.length) / 1e6);
    },
  );

  it("SEAL-26 refuses hostile envelopes as tampered", () => {
    const many = `{${Array.from({ length: 50_000 }, (_, i) => `"m${i}":1`).join(",")}}`;
    const texts = [
      "[".repeat(1e6),
      '{"a":'.repeat(2e5),
      '"'.repeat(1e6),
      "{".repeat(1e6),
      `{"v":${"9".repeat(1e6)}}`,
      many,
      `{"v":1,"body":"${"\\".repeat(1e6)}"}`,
      " ".repeat(1e6),
      `{"${"\\u0061".repeat(1e5)}":1}`,
    ];
    for (const text of texts) {
      expect(spent(() => verify(text, options))).toBeLessThan(150 * SLACK);
      expect(refusalCode(() => verify(text, options))).toBe("checkpoint-tampered");
    }
  });

  it("SEAL-26 refuses a text past the bytes by its length, unread", () => {
    expect(refusalCode(() => decode("x".repeat(17 * 1024 * 1024)))).toBe("seal-malformed");
    expect(spent(() => decode("x".repeat(17 * 1024 * 1024)))).toBeLessThan(100);
    const wide = `"${"é".repeat(9 * 1024 * 1024)}"`;
    expect(refusalCode(() => decode(wide))).toBe("seal-malformed");
    expect(decode(`"${"é".repeat(1000)}"`)).toHaveLength(1000);
  });
});
