/** A failure as plain data: what is journaled, sent and rebuilt. Bounded; holds no arguments of the call. */
export interface ErrorInfo {
  /** The class's registered name: rebuilding makes an instance of it. */
  readonly name: string;
  /** A closed code where the class has one, else `failed`. */
  readonly code: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Whether trying again may help, by the one who threw. */
  readonly retryable: boolean;
  /** Names of attributes that could not be sealed and were left out (TOOL-04). */
  readonly omitted?: readonly string[];
}
