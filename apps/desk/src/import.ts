import { Desk } from "./desk.ts";
import { DeskError } from "./failure.ts";
import type { Folder } from "./folder.ts";
import { readOrders } from "./orders.ts";
import { prepareFolder } from "./prepare.ts";
import { Progress } from "./progress.ts";
import { Provider } from "./provider.ts";
import { reportBadLines, reportPass, reportWaiting } from "./report.ts";
import { readRequests } from "./requests.ts";
import type { Screen } from "./screen.ts";
import { workThrough, type Pass } from "./work.ts";

/** Works a file of requests through, and says what waits. Repeated, it goes on: a request is one run, however often it comes. */
export async function importFile(
  screen: Screen,
  how: {
    readonly requests: string;
    readonly orders: string;
    readonly folder: Folder;
    readonly key: string | undefined;
  },
): Promise<void> {
  const orderLines = readOrders(how.orders);
  const orders = new Map(orderLines.good.map((order) => [order.id, order]));
  const { good, bad } = readRequests(how.requests, orders);
  reportBadLines(screen, [...orderLines.bad, ...bad]);
  if (good.length === 0 && bad.length > 0) {
    throw new DeskError(
      "file-unreadable",
      `no line of ${how.requests} is a request that can be taken`,
    );
  }
  const key = await prepareFolder(how.folder, how.key);
  const provider = new Provider(how.folder.provider, orders);
  try {
    const desk = await Desk.open(how.folder, provider, key);
    try {
      const progress = new Progress(screen, "requests");
      const pass = await workThrough(desk, good, (done) => progress.show(done, good.length));
      reportPass(screen, pass);
      reportWaiting(screen, await desk.waiting());
      assertAllTaken(pass);
    } finally {
      await desk.close();
    }
  } finally {
    provider.close();
  }
}

function assertAllTaken({ setAside: { length } }: Pass): void {
  if (length === 0) return;
  const said = length === 1 ? "1 request was" : `${length} requests were`;
  throw new DeskError("set-aside", `${said} set aside: see above`);
}
