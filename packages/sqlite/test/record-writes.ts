import { auditKey, statements, type Write } from "@holdpoint/approvals";

export const scope = "acme";

/** A write of a record's row. */
export function put(id: string, expect: Write["expect"], more: Partial<Write> = {}): Write {
  const { values, ...rest } = more;
  return {
    statement: statements.putRecord,
    scope,
    key: id,
    expect,
    values: {
      state: "pending",
      tool: "pay",
      runId: `run-of-${id}`,
      requestKey: `key-of-${id}`,
      requestedAt: 1_000,
      expiresAt: null,
      sealed: `sealed ${id}`,
      ...values,
    },
    ...rest,
  };
}

/** A write that appends an audit entry. */
export function append(id: string, number: number): Write {
  return {
    statement: statements.appendAudit,
    scope,
    key: auditKey(id, number),
    expect: 0,
    values: { sealed: `entry ${number}` },
  };
}
