import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { Supervisor } from "@holdpoint/workflows";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { Desk, scope } from "../src/desk.ts";
import { refundFlow } from "../src/flow.ts";
import { folderAt, type Folder } from "../src/folder.ts";
import { readOrders } from "../src/orders.ts";
import { prepareFolder } from "../src/prepare.ts";
import { Provider } from "../src/provider.ts";
import type { RefundRequest } from "../src/requests.ts";
import { sample } from "../src/sample.ts";
import { deskTools } from "../src/tools.ts";
import { refundWorkflow } from "../src/workflow.ts";
import { temporaryFolder } from "./folder.ts";

const orders = new Map(readOrders(sample.orders).good.map((order) => [order.id, order]));
/** One that is paid without a person. */
const request = readFileSync(sample.requests, "utf8")
  .split("\n")
  .filter((line) => line.includes('"R-0002"'))
  .map((line) => JSON.parse(line) as RefundRequest)[0]!;

/** A desk as a process of its own would have it: its own connections to the same files. */
async function deskOn(folder: Folder) {
  const key = await prepareFolder(folder, undefined);
  const provider = new Provider(folder.provider, orders);
  const desk = await Desk.open(folder, provider, key);
  onTestFinished(async () => {
    await desk.close();
    provider.close();
  });
  return { desk, provider };
}

/** As if the time of every lease had run out: a real one is too short on one machine, and too long on another. */
function lapse({ store }: Folder): void {
  const file = new DatabaseSync(store);
  file.exec("UPDATE leases SET until = 1");
  file.close();
}

describe("carrying a request on", () => {
  it("takes up a run that was put on record by a process that died before its first step", async () => {
    const folder = folderAt(temporaryFolder());
    const key = await prepareFolder(folder, undefined);
    const { provider } = await deskOn(folder);
    const store = openSqlite(folder.store);
    const definitions = [refundWorkflow(refundFlow(deskTools(provider)))] as const;
    const keyring = keyringOf(key);
    const how = { session: scope, leaseMs: 600_000, pollMs: 10 };
    const dying = new Supervisor({ store, definitions, keyring, scope, ...how });
    await dying.activate();
    await dying.start("refund", request, { key: request.id });
    store.close(); // its lease stands until it lapses
    await dying.shutdown();

    const { desk } = await deskOn(folder);
    expect(await desk.standings()).toEqual(new Map([[request.id, { status: "elsewhere" }]]));
    lapse(folder);
    expect(await desk.begin()).toBe(true);
    expect(await desk.carryOn(request)).toEqual({ status: "completed" });
    expect(provider.payments()).toHaveLength(1);
  });

  it("stands by while another process is at work, and goes on once that has given the desk back", async () => {
    const folder = folderAt(temporaryFolder());
    const other = await deskOn(folder);
    expect(await other.desk.begin()).toBe(true);
    const { desk } = await deskOn(folder);
    expect(await desk.begin()).toBe(false);
    expect(await desk.carryOn(request)).toEqual({ status: "elsewhere" });
    expect(await other.desk.carryOn(request)).toEqual({ status: "completed" });
    await other.desk.close();
    await vi.waitUntil(async () => (await desk.carryOn(request)).status === "completed", 60_000);
    expect(other.provider.payments()).toHaveLength(1);
  });

  it("says in plain words that an id came again with another wish", async () => {
    const folder = folderAt(temporaryFolder());
    const { desk } = await deskOn(folder);
    await desk.begin();
    await desk.carryOn(request);
    expect(await desk.carryOn({ ...request, reason: "another" })).toEqual({
      status: "set-aside",
      why: "an earlier request had this id and asked for something else; this one needs an id of its own",
    });
  });
});
