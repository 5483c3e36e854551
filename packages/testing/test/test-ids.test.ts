import { isId } from "@holdpoint/approvals";
import { describe, expect, it } from "vitest";

import { testIds } from "../src/index.ts";

describe("test ids", () => {
  it("TEST-01 repeat by seed, and differ between seeds", () => {
    const draw = (seed?: number) => {
      const ids = testIds(seed);
      return [ids.id(), ids.uuid(), ids.random(), ids.id()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw()).toEqual(draw(1));
  });

  it("TEST-01 have the form of real ones, and don't repeat within 10,000", () => {
    const ids = testIds(3);
    const seen = new Set<string>();
    for (let at = 0; at < 10_000; at += 1) {
      const [id, uuid, random] = [ids.id(), ids.uuid(), ids.random()];
      expect(id).toMatch(/^[\w-]{22}$/);
      expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      expect(random >= 0 && random < 1 && isId(id)).toBe(true);
      seen.add(id).add(uuid);
    }
    expect(seen.size).toBe(20_000);
  });

  it("TEST-01 draw chance evenly", () => {
    const ids = testIds(11);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let at = 0; at < 20_000; at += 1) buckets[Math.floor(ids.random() * 10)]! += 1;
    for (const count of buckets) expect(Math.abs(count - 2_000)).toBeLessThan(250);
  });
});
