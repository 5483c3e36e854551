import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { zombies } from "../../src/supervision/zombies.ts";

it("R061 STORE-06 P6 takes no write of 50 owners that were stopped, replaced and woken", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-zombies-"));
  try {
    const found = await zombies(folder, { wanted: 50, sessions: 10 });
    expect(found.stale).toEqual([]);
    expect(found.zombies).toBeGreaterThanOrEqual(50);
    expect(found.accepted).toBeGreaterThan(50);
    expect(found.refused).toBeGreaterThan(50);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
