/** Who may let a request go, and for how long. All members are optional; none given: one decision by anybody. */
export interface ApprovalRule {
  /** Actor ids or `role:` names that may decide; others are refused. Empty is refused. */
  readonly approvers?: readonly string[];
  /** How many distinct people must approve; 1 or more (default 1). One denial denies. */
  readonly quorum?: number;
  /** The one who asked may not decide (four eyes). */
  readonly excludeRequester?: boolean;
  /** How long deciding is possible after the request, in milliseconds (APR-13). */
  readonly expiresInMs?: number;
  /** How long an approval may be used after it was given, in milliseconds; later the dispatch is refused (`approval-stale`). */
  readonly useWithinMs?: number;
  readonly title?: string;
  readonly reason?: string;
}
