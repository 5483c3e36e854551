import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Write } from "@holdpoint/approvals";
import { afterAll, describe, expect, it } from "vitest";

import { Dying } from "../src/kill/dying.ts";
import { openedAt } from "../src/kill/places.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-killed-inside-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One that ends the work it is told to end, and not the process. */
class Struck extends Dying {
  died = false;
  override die(): void {
    this.died = true;
    throw new Error("ended here");
  }
}

function lease(key: string): readonly Write[] {
  const values = { epoch: 1, owner: "one", until: 1_000 };
  return [{ statement: "leases.put", scope: "default", key, expect: 0, values }];
}

describe("a process that is killed inside a commit", () => {
  it("FLOW-77 is killed at the COMMIT of the transaction that holds it, also of one begun for another commit", async () => {
    const dying = new Struck(() => {});
    const { leases, close } = await openedAt({ folder, layout: "sqlite" }, dying, 0);
    dying.arm({ at: "commit", of: "W1", nth: 1, moment: "inside" });
    const points = () => ["W1"];
    const other = leases.commit("other", lease("other"));
    const its = dying.commit("its", points, () => leases.commit("its", lease("its")));
    await Promise.allSettled([other, its]);
    expect(dying.died).toBe(true);
    await close();
  });

  it("FLOW-77 is not killed at the COMMIT of another transaction", async () => {
    const dying = new Struck(() => {});
    const { leases, close } = await openedAt({ folder, layout: "sqlite" }, dying, 0);
    dying.arm({ at: "commit", of: "W1", nth: 1, moment: "inside" });
    const commit = (id: string) => leases.commit(id, lease(id));
    const points = () => ["W1"];
    await dying.commit("that", points, () => commit("another"));
    expect(dying.died).toBe(false);
    await commit("that").catch(() => undefined);
    expect(dying.died).toBe(true);
    await close();
  });
});
