import { readFileSync } from "node:fs";

import { keyringOf } from "@holdpoint/seal";
import { openSqlite } from "@holdpoint/sqlite";
import { Workflows } from "@holdpoint/workflows";
import { describe, expect, it, onTestFinished } from "vitest";

import { Desk, scope } from "../src/desk.ts";
import { refundFlow } from "../src/flow.ts";
import { folderAt, type Folder } from "../src/folder.ts";
import { readOrders } from "../src/orders.ts";
import { prepareFolder } from "../src/prepare.ts";
import { Provider, type Committed } from "../src/provider.ts";
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
async function deskOn(folder: Folder, committed?: Committed) {
  const key = await prepareFolder(folder, undefined);
  const provider = new Provider(folder.provider, orders, committed);
  const desk = await Desk.open(folder, provider, key);
  onTestFinished(() => {
    desk.close();
    provider.close();
  });
  return { desk, provider };
}

describe("carrying a request on", () => {
  it("takes up a run that was put on record by a process that died before its first step", async () => {
    const folder = folderAt(temporaryFolder());
    const key = await prepareFolder(folder, undefined);
    const { provider } = await deskOn(folder);
    const store = openSqlite(folder.store);
    const definitions = [refundWorkflow(refundFlow(deskTools(provider)))] as const;
    const dying = new Workflows({ store, definitions, keyring: keyringOf(key), scope });
    await dying.start("refund", request, { key: request.id });
    store.close();
    await dying.waitIdle();

    const { desk } = await deskOn(folder);
    expect(await desk.standings()).toEqual(new Map([[request.id, { status: "elsewhere" }]]));
    expect(await desk.carryOn(request)).toEqual({ status: "completed" });
    expect(provider.payments()).toHaveLength(1);
  });

  it("says where a request came to rest that another process took over and finished", async () => {
    const folder = folderAt(temporaryFolder());
    const other = await deskOn(folder);
    const { desk } = await deskOn(folder, async (operation) => {
      if (operation === "claim") await other.desk.carryOn(request);
    });
    expect(await desk.carryOn(request)).toEqual({ status: "completed" });
    expect(other.provider.payments()).toHaveLength(1);
  });

  it("says that another process has a request while it works on it", async () => {
    const folder = folderAt(temporaryFolder());
    let take = (): void => {};
    const taken = new Promise<void>((resolve) => void (take = resolve));
    let mine: Promise<unknown> | undefined;
    const other = await deskOn(folder, async (operation) => {
      if (operation !== "pay") return;
      take();
      expect(await mine).toEqual({ status: "elsewhere" });
    });
    let theirs: Promise<unknown> | undefined;
    const { desk } = await deskOn(folder, async (operation) => {
      if (operation !== "claim") return;
      theirs = other.desk.carryOn(request);
      await taken;
    });
    mine = desk.carryOn(request);
    expect(await mine).toEqual({ status: "elsewhere" });
    expect(await theirs).toEqual({ status: "completed" });
    expect(other.provider.payments()).toHaveLength(1);
  });

  it("says in plain words that an id came again with another wish", async () => {
    const folder = folderAt(temporaryFolder());
    const { desk } = await deskOn(folder);
    await desk.carryOn(request);
    expect(await desk.carryOn({ ...request, reason: "another" })).toEqual({
      status: "set-aside",
      why: "an earlier request had this id and asked for something else; this one needs an id of its own",
    });
  });
});
