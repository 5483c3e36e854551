import { isSealError, type SealError, type SealErrorCode } from "../src/index.ts";

/** The error of this package that `run` throws; anything else, or nothing, fails the test. */
export function refusal(run: () => unknown): SealError {
  try {
    run();
  } catch (error) {
    if (isSealError(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

export function refusalCode(run: () => unknown): SealErrorCode {
  return refusal(run).code;
}
