import { describe, expect, it } from "vitest";

import {
  encode,
  isSealError,
  NotSealableError,
  SealDecodeError,
  SealError,
  SealTamperedError,
} from "../src/index.ts";
import { refusal } from "./refusal.ts";

describe("errors", () => {
  it("SEAL-17 SEAL-28 are recognised by brand and code, whichever copy of the package made them", () => {
    const error = refusal(() => encode(() => 1));
    expect([
      isSealError(error),
      isSealError(error, "state-not-sealable"),
      isSealError(error, "seal-malformed"),
    ]).toEqual([true, true, false]);
    const copy = { [Symbol.for("@holdpoint/seal.error")]: true, code: "key-invalid" };
    expect([
      isSealError(copy),
      isSealError(copy, "key-invalid"),
      isSealError(copy, "key-compromised"),
    ]).toEqual([true, true, false]);
    const branded = Object.assign(() => 1, copy);
    for (const other of [
      branded,
      undefined,
      null,
      "x",
      new Error("x"),
      {},
      { code: "key-invalid" },
      () => 1,
    ]) {
      expect(isSealError(other)).toBe(false);
    }
  });

  it("SEAL-17 SEAL-28 carry their data in fields, and name themselves", () => {
    const cause = new Error("why");
    const error = new SealError("key-invalid", "message", {
      keyId: "k",
      version: 2,
      name: "codec x",
      limit: 1,
      figure: 2,
      cause,
    });
    expect(error).toMatchObject({
      name: "SealError",
      code: "key-invalid",
      message: "message",
      keyId: "k",
      version: 2,
      codecOrModel: "codec x",
      limit: 1,
      figure: 2,
    });
    expect(error.cause).toBe(cause);
    expect("cause" in new SealError("key-invalid", "message")).toBe(false);
    const made = [
      new NotSealableError("a", "b", "C"),
      new SealDecodeError("a", "b"),
      new SealTamperedError("k"),
    ];
    expect(made.map((one) => one.name)).toEqual([
      "NotSealableError",
      "SealDecodeError",
      "SealTamperedError",
    ]);
    expect(made.map((one) => one.code)).toEqual([
      "state-not-sealable",
      "seal-malformed",
      "checkpoint-tampered",
    ]);
    expect(made.map((one) => one.message.slice(0, 30))).toEqual([
      "a can't be sealed: b. C.",
      "a can't be read: b.",
      "this text was changed after it",
    ]);
    expect(new SealDecodeError("", "b").message).toBe("the text can't be read: b.");
    expect(made[2]?.keyId).toBe("k");
  });
});
