/** A process that works: started by `child.ts`, told what to do by its one argument, and meant to be killed at any time. */
import process from "node:process";

import { Desk } from "./desk.ts";
import { sentence } from "./failure.ts";
import { folderAt } from "./folder.ts";
import { keyOf } from "./key.ts";
import type { WorkerMessage, WorkerOrder } from "./message.ts";
import { readOrders } from "./orders.ts";
import { Provider, type Operation } from "./provider.ts";
import { readRequests } from "./requests.ts";
import { workThrough } from "./work.ts";

/** A parent that is gone is heard of by `disconnect`. */
const tell = (message: WorkerMessage): void =>
  void process.send?.(message, undefined, undefined, () => {});

async function work(order: WorkerOrder): Promise<void> {
  const orders = new Map(readOrders(order.orders).good.map((one) => [one.id, one]));
  const requests = readRequests(order.requests, orders).good;
  const folder = folderAt(order.folder);
  const key = keyOf(folder, process.env["DESK_KEY"]);
  const provider = new Provider(folder.provider, orders, holdAt(order.holdAt));
  const desk = await Desk.open(folder, provider, key);
  const pass = await workThrough(desk, requests, (done) =>
    tell({ kind: "progress", done, all: requests.length }),
  );
  await desk.close();
  provider.close();
  tell({ kind: "done", pass });
}

/** Never answers at the place asked for: the effect stands, and nobody here knows. */
function holdAt(place: WorkerOrder["holdAt"]) {
  return (operation: Operation, count: number): Promise<void> | void => {
    if (operation !== place?.operation || count !== place.count) return;
    tell({ kind: "holding", operation, count });
    return new Promise(() => {});
  };
}

// Nobody waits for what an orphan does. Listening also keeps the process up while it stands still.
const orphaned = (): void => process.exit(1);
process.once("disconnect", orphaned);

try {
  await work(JSON.parse(process.argv[2] ?? "{}") as WorkerOrder);
} catch (error) {
  tell({ kind: "failed", message: sentence(error) });
  process.exitCode = 1;
}
process.off("disconnect", orphaned);
process.disconnect?.();
