/**
 * An input as the caller passed it, read through the tool's schema: a copy that later changes of the caller's object
 * don't reach, without anything that the schema itself would make (FLOW-31).
 */
export interface InputSnapshot {
  readonly value: unknown;
  /**
   * The journal key: digest of tool and canonical input. Computed when first asked for.
   * @throws NotSealableError where the input can't be sealed and the tool gives no `key`.
   */
  key(): string;
}
