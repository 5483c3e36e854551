/** Checks the trails of approvals by their seals: of one, or page by page of all. */
import type { AuditReport, SealedRecords } from "@holdpoint/approvals";

import type { Command } from "../command.ts";
import type { Desk } from "../desk.ts";
import { notFound } from "./approvals-show.ts";

export const auditVerify: Command = {
  path: "audit verify",
  summary: "check who decided what by its seals, of one approval or of all",
  operands: ["[ID]"],
  options: {},
  async run(desk, given, output) {
    const id = given.optionalOperand(0);
    const records = await desk.records();
    const found = id === undefined ? await allOf(desk, records) : await oneOf(desk, records, id);
    output.say(found, () => [
      `${found.checked} checked, ${found.broken.length} broken`,
      ...found.broken.map(({ id: which, why }) => `broken: ${which}: ${why}`),
    ]);
    return found.broken.length === 0 ? 0 : 3;
  },
};

interface Found {
  readonly checked: number;
  readonly broken: readonly { readonly id: string; readonly why: string }[];
}

async function oneOf(desk: Desk, records: SealedRecords, id: string): Promise<Found> {
  const report = await records.verifyAudit(desk.scope, id);
  if (report.status === "missing") throw notFound(id);
  return { checked: 1, broken: report.status === "whole" ? [] : [{ id, why: whyOf(report) }] };
}

async function allOf(desk: Desk, records: SealedRecords): Promise<Found> {
  const broken: { id: string; why: string }[] = [];
  let checked = 0;
  let cursor: string | undefined;
  do {
    const page = await records.list(desk.scope, { limit: 500, ...(cursor && { cursor }) });
    for (const { id, error } of page.broken) broken.push({ id, why: error.message });
    for (const { id } of page.items) {
      const report = await records.verifyAudit(desk.scope, id);
      if (report.status !== "whole") broken.push({ id, why: whyOf(report) });
    }
    checked += page.items.length + page.broken.length;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { checked, broken };
}

function whyOf(report: Exclude<AuditReport, { readonly status: "whole" }>): string {
  if (report.status === "missing") return "it is gone";
  return report.entry === 0
    ? "the record itself can't be trusted"
    : `entry ${report.entry} of its trail does not fit (${report.fault})`;
}
