import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { edited } from "@holdpoint/tools";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { accountsOf } from "../src/accounts.ts";
import { keepBooks, type Books } from "../src/books.ts";
import { runWorker } from "../src/child.ts";
import { Desk } from "../src/desk.ts";
import { folderAt } from "../src/folder.ts";
import { keyOf, makeKey } from "../src/key.ts";
import type { WorkerOrder } from "../src/message.ts";
import { readOrders } from "../src/orders.ts";
import { decideSome } from "../src/people.ts";
import { Provider } from "../src/provider.ts";
import { readRequests } from "../src/requests.ts";
import { sample } from "../src/sample.ts";
import { sourceSettings } from "./desk-process.ts";
import { temporaryFolder } from "./folder.ts";

type Place = NonNullable<WorkerOrder["holdAt"]>;

const orders = new Map(readOrders(sample.orders).good.map((order) => [order.id, order]));
const silent = (): void => {};

// Workers are processes of their own, and run on the packages' source like the test.
beforeEach(() => {
  for (const [name, value] of Object.entries(sourceSettings)) vi.stubEnv(name, value);
});

/** A desk over the first requests of the sample. */
class SmallDesk {
  readonly #files: WorkerOrder;

  constructor() {
    const path = temporaryFolder();
    const requests = join(path, "requests.jsonl");
    const lines = readFileSync(sample.requests, "utf8").split("\n").slice(0, 36);
    writeFileSync(requests, `${lines.join("\n")}\n`);
    this.#files = { folder: join(path, "desk"), requests, orders: sample.orders };
    const folder = folderAt(this.#files.folder);
    mkdirSync(folder.path);
    makeKey(folder);
  }

  async work(): Promise<void> {
    const ended = await runWorker(this.#files, silent);
    if (ended.how !== "done" || ended.pass.setAside.length > 0) throw new Error("not done");
  }

  /** Works until this place, where it is killed. */
  async dieAt(holdAt: Place): Promise<void> {
    const ended = await runWorker({ ...this.#files, holdAt }, silent);
    if (ended.how === "done") throw new Error(`no ${holdAt.operation} ${holdAt.count} came`);
  }

  decide(): Promise<unknown> {
    return this.#with(async (desk) =>
      decideSome(desk.records, await desk.waiting(), (args) => edited(desk.tools.payBack, args)),
    );
  }

  books(): Promise<Books & { readonly again: number }> {
    const { good } = readRequests(this.#files.requests, orders);
    return this.#with(async (desk, provider) => ({
      ...keepBooks(await accountsOf(desk, provider, good, orders)),
      again: provider.asked().again,
    }));
  }

  async #with<T>(use: (desk: Desk, provider: Provider) => Promise<T>): Promise<T> {
    const folder = folderAt(this.#files.folder);
    const provider = new Provider(folder.provider, orders);
    try {
      const desk = await Desk.open(folder, provider, keyOf(folder, undefined));
      try {
        return await use(desk, provider);
      } finally {
        await desk.close();
      }
    } finally {
      provider.close();
    }
  }
}

describe("a desk that is killed", () => {
  it("DESK-10 DESK-03 balances, whatever it had just done each time, and asks for each of those things once more", async () => {
    const desk = new SmallDesk();
    await desk.dieAt({ operation: "look_up", count: 1 });
    await desk.dieAt({ operation: "claim", count: 3 });
    await desk.dieAt({ operation: "pay", count: 4 });
    await desk.dieAt({ operation: "letter", count: 2 });
    await desk.work();
    expect(await desk.books()).toMatchObject({ wrong: [], doublePayments: 0, again: 4 });

    await desk.decide();
    await desk.dieAt({ operation: "allow_late", count: 1 });
    await desk.dieAt({ operation: "claim", count: 1 });
    await desk.dieAt({ operation: "release", count: 1 });
    await desk.dieAt({ operation: "pay", count: 1 });
    await desk.dieAt({ operation: "pay", count: 2 }); // the one before, and the next
    await desk.work();
    expect(await desk.books()).toMatchObject({ wrong: [], doublePayments: 0, again: 9 });

    await desk.decide();
    await desk.dieAt({ operation: "pay", count: 1 }); // let go by a treasurer
    await desk.work();
    const { wrong, doublePayments, again, counts } = await desk.books();
    expect({ wrong, doublePayments, again }).toEqual({ wrong: [], doublePayments: 0, again: 10 });
    expect(counts.paid).toBeGreaterThan(20);
  });

  it("does not make its folder again that was removed meanwhile", async () => {
    const gone = join(temporaryFolder(), "gone");
    const order: WorkerOrder = { folder: gone, ...sample };
    await expect(runWorker(order, silent)).rejects.toThrow(join(gone, "desk.key"));
    expect(existsSync(gone)).toBe(false);
  });
});
