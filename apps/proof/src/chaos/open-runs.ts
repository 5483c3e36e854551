import type { Row } from "@holdpoint/approvals";
import type { PostgresStore } from "@holdpoint/postgres";

/** So long without a move of any run, and nobody moves one any more: leases, looks and pauses before another try are shorter. */
const stillMs = 180_000;

const open = ["pending", "running", "interrupted"] as const;

/** Some runs that have not ended; undefined where the database is away. */
export async function openRuns(
  { runs }: PostgresStore,
  limit: number,
): Promise<readonly Row[] | undefined> {
  try {
    const lists = open.map((status) =>
      runs.list("default", { status }, { order: "oldest", limit }),
    );
    return (await Promise.all(lists)).flat();
  } catch {
    return undefined;
  }
}

/** What stands open, where nothing has moved for long: it is stuck then, and not slow. */
export async function standsStill(store: PostgresStore): Promise<readonly string[] | undefined> {
  try {
    const [last] = await store.runs.list("default", {}, { order: "latest", limit: 1 });
    if (last === undefined) return undefined;
    const now = await store.runs.now();
    if (now - Number(last.values["updatedAt"]) < stillMs) return undefined;
  } catch {
    return undefined;
  }
  const rows = (await openRuns(store, 20)) ?? [];
  return ["nothing moved any more", ...rows.map(told)];
}

function told({ key, values }: Row): string {
  const { status, session, startKey, updatedAt } = values;
  return `run ${key} (${startKey}) of ${session} is ${status} since ${new Date(Number(updatedAt)).toISOString()}`;
}
