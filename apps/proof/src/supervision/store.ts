import { openPostgres } from "@holdpoint/postgres";
import { openSqlite } from "@holdpoint/sqlite";
import type { SupervisorStore } from "@holdpoint/workflows";

import type { Place } from "./order.ts";

/** A store of this process's own on a database that others use too. */
export type OpenStore = SupervisorStore & { close(): void | Promise<void> };

export async function storeAt(place: Place): Promise<OpenStore> {
  if (place.kind === "sqlite") return openSqlite(place.file);
  return openPostgres(place.url, { schema: place.schema });
}
