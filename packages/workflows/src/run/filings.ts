import type { ApprovalPort } from "@holdpoint/approvals";

/**
 * Questions that this process is filing, by run. An abort waits for no port, so a question may still be on its way to its store when
 * the work on its run has stopped: whoever ends the run waits for it here, and finds it on record then (WF-26).
 */
export class Filings {
  readonly #underWay = new Map<string, Set<Promise<unknown>>>();

  /** A port as it is, what it is asked being known here. */
  watched(port: ApprovalPort): ApprovalPort {
    return {
      ...(port.records !== undefined && { records: port.records }),
      request: (request, how) => {
        const asking = port.request(request, how);
        this.#watch(request.runId, asking);
        return asking;
      },
    };
  }

  /** Resolves once nothing of a run that nobody works on is being filed; at once where nothing is. Its bound is the store's own. */
  async settled(runId: string): Promise<void> {
    const open = this.#underWay.get(runId);
    if (open !== undefined) await Promise.allSettled(open);
  }

  #watch(runId: string, asking: Promise<unknown>): void {
    const open = this.#underWay.get(runId) ?? new Set();
    this.#underWay.set(runId, open.add(asking));
    const over = (): void => {
      open.delete(asking);
      if (open.size === 0) this.#underWay.delete(runId);
    };
    asking.then(over, over);
  }
}
