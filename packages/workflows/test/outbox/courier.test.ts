import { memoryHome } from "@holdpoint/approvals";
import { expect, it } from "vitest";

import { memoryOutbox } from "../../src/index.ts";
import { Courier } from "../../src/outbox/courier.ts";
import { DeliveryCodec } from "../../src/outbox/delivery.ts";
import { pendingRun, type RunFacts } from "../../src/registry/record.ts";
import { resolveBase } from "../../src/run/options.ts";
import { storesOn } from "../faulty-stores.ts";
import { countingIds, handClock, keyring } from "../world.ts";

const facts: RunFacts = {
  id: "run-1",
  scope: "default",
  session: "desk",
  definition: "refund",
  version: "1",
  parent: undefined,
  startedBy: undefined,
  startKey: undefined,
  inputDigest: "digest",
  input: "{}",
  createdAt: 1_000,
};

it("WF-36 has one of two couriers that look at once hand a delivery over", async () => {
  const clock = handClock();
  const home = memoryHome({ clock });
  const outbox = memoryOutbox(home);
  const codec = new DeliveryCodec(keyring);
  const records = Array.from({ length: 20 }, (_, at) => ({ ...pendingRun(facts), revision: at }));
  await home.commit(
    "fill",
    records.map((record) => codec.write(record, "ended")),
  );
  const told: string[] = [];
  const couriers = ["one", "two"].map((name) => {
    const stores = storesOn({ approvals: home, log: home, runs: home });
    const base = resolveBase(stores, { definitions: [], keyring, clock, ids: countingIds(name) });
    return new Courier(base, outbox, ({ id }) => void told.push(id));
  });
  await Promise.all(couriers.map((courier) => courier.look()));
  expect(told).toHaveLength(20);
  expect(new Set(told).size).toBe(20);
});
