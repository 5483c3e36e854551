/** One place where a rule of the architecture does not hold. */
export interface Breach {
  /** A file, with its line where there is one: `packages/flow/src/run.ts:12`. */
  readonly where: string;
  readonly says: string;
}
