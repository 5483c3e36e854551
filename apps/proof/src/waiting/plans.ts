import type { DatabaseSync } from "node:sqlite";

/** Statements that are no reads or writes of rows. */
const others = /^(BEGIN|COMMIT|ROLLBACK|PRAGMA|SELECT abs\(random)/;

/** Every step of the statements that looks through a table instead of an index, or sorts, by its statement. */
export function unboundSteps(handle: DatabaseSync, statements: ReadonlySet<string>): string[] {
  return [...statements]
    .filter((sql) => !others.test(sql.trim()))
    .flatMap((sql) => {
      const binds: Record<string, null> = {};
      for (const [, name = ""] of sql.matchAll(/:([a-zA-Z]+)/g)) binds[name] = null;
      const steps = handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(binds);
      return steps
        .map(({ detail }) => String(detail))
        .filter((step) => /\bSCAN\b|TEMP B-TREE/.test(step) && step !== "SCAN CONSTANT ROW")
        .map((step) => `${step} in ${sql}`);
    });
}
