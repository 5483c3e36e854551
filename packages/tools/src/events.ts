/**
 * What happens to a call, for whoever watches: ids and names, never arguments or results (TOOL-07).
 */
export type ToolEvent = CallIds &
  (
    | { readonly kind: "requested"; readonly requestId: string }
    | {
        readonly kind: "pending";
        readonly requestId: string;
        readonly approvalId: string | undefined;
      }
    | {
        readonly kind: "decided";
        readonly requestId: string | undefined;
        readonly approvalId: string | undefined;
        readonly approved: boolean;
        readonly edited: boolean;
      }
    | { readonly kind: "started"; readonly attempt: number }
    | { readonly kind: "finished"; readonly durationMs: number }
    /** `executed`: whether `execute` had been entered. */
    | { readonly kind: "failed"; readonly code: string; readonly executed: boolean }
    /**
     * Something reached nobody: a result after its time, an outcome that no store or ledger took.
     */
    | { readonly kind: "dropped"; readonly what: Dropped }
  );

export type Dropped = "late-result" | "approval-outcome" | "ledger-entry";

export interface CallIds {
  readonly tool: string;
  readonly runId: string;
  readonly node: string;
  /** Absent where the input can't be sealed and so has no key. */
  readonly callId: string | undefined;
}

export type ToolListener = (event: ToolEvent) => void | Promise<void>;

type Of<E> = E extends ToolEvent ? Omit<E, keyof CallIds> : never;
/** An event without its ids: those are added for those who listen. */
export type ToolEventFacts = Of<ToolEvent>;

/**
 * Tells every listener; what one of them throws, now or later, disturbs neither the call nor the
 * others.
 */
export function tell(listeners: Iterable<ToolListener>, event: ToolEvent): void {
  for (const listener of listeners) {
    try {
      const told = listener(event);
      if (told instanceof Promise) told.catch(ignore);
    } catch {
      continue;
    }
  }
}

function ignore(): void {}
