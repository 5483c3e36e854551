/**
 * The demo: 200 refund requests, a script of people, a kill in the middle of a payment, and the books at the end. It says
 * what it does as it goes, and fails unless the books balance.
 */
import { performance } from "node:perf_hooks";

import { edited } from "@holdpoint/tools";

import { accountsOf } from "./accounts.ts";
import { keepBooks, type Books } from "./books.ts";
import { runWorker, type Ended } from "./child.ts";
import { Desk } from "./desk.ts";
import { DeskError } from "./failure.ts";
import { folderAt, type Folder } from "./folder.ts";
import type { WorkerOrder } from "./message.ts";
import { readOrders, type Order } from "./orders.ts";

import { decideSome, decideTwice, type Round } from "./people.ts";
import { prepareFolder } from "./prepare.ts";
import { Progress } from "./progress.ts";
import { Provider } from "./provider.ts";
import { reportBadLines, reportPass, reportSums, reportTable, reportWaiting } from "./report.ts";
import { knownPayments, replayedCalls } from "./replays.ts";
import { readRequests, type RefundRequest } from "./requests.ts";
import { sample } from "./sample.ts";
import type { Screen } from "./screen.ts";
import { changeOneByte, copyStore, refusalOf } from "./tamper.ts";
import { workingFolder } from "./temporary.ts";

/** The payment of the second pass after which the worker is killed: about half of what that pass has to pay. */
const fatalPayment = 20;
/** Large amounts are asked about twice, late requests once more: after so many rounds nothing new comes up. */
const laterRounds = 2;

export interface DemoOptions {
  /** Keep the files here. */
  readonly keep: string | undefined;
  /** The setting DESK_KEY. */
  readonly key: string | undefined;
}

/** @throws DeskError `books-differ`; and whatever went wrong on the way */
export async function demo(screen: Screen, { keep, key: setting }: DemoOptions): Promise<void> {
  const working = workingFolder(keep);
  const began = performance.now();
  try {
    const folder = folderAt(working.path);
    const key = await prepareFolder(folder, setting);
    const where = keep ?? "a fresh folder, removed at the end";
    screen.line(`A refund desk and its bank, in ${where}`);
    const story = new Story(screen, folder, key);
    const books = await story.tell();
    screen.line();
    screen.line(screen.dim(`  ${((performance.now() - began) / 1000).toFixed(1)} s`));
    if (books.wrong.length > 0) {
      throw new DeskError("books-differ", "the books do not balance: see above");
    }
  } finally {
    working.end();
  }
}

class Story {
  readonly #screen: Screen;
  readonly #folder: Folder;
  readonly #key: Uint8Array;
  readonly #orders: ReadonlyMap<string, Order>;
  #requests: readonly RefundRequest[] = [];
  #badLines = 0;

  constructor(screen: Screen, folder: Folder, key: Uint8Array) {
    this.#screen = screen;
    this.#folder = folder;
    this.#key = key;
    this.#orders = new Map(readOrders(sample.orders).good.map((order) => [order.id, order]));
  }

  async tell(): Promise<Books> {
    this.#read();
    await this.#firstPass();
    await this.#decide();
    await this.#crash();
    await this.#goOn();
    await this.#laterRounds();
    await this.#tamper();
    return this.#closeBooks();
  }

  #read(): void {
    const { good, bad } = readRequests(sample.requests, this.#orders);
    this.#requests = good;
    this.#badLines = bad.length;
    this.#screen.heading(`1  ${good.length} refund requests come in, and ${bad.length} bad lines`);
    reportBadLines(this.#screen, bad);
  }

  async #firstPass(): Promise<void> {
    this.#screen.heading("2  A worker process goes through them, and pays what needs nobody");
    this.#report(await this.#work());
    await this.#withDesk(async (desk) => {
      this.#screen.line("  What waits (names and amounts are for those who decide):");
      reportWaiting(this.#screen, await desk.waiting());
    });
  }

  #decide(): Promise<void> {
    this.#screen.heading("3  Dana, who reviews, and Femi, who keeps the money, decide");
    return this.#withDesk(async (desk) => {
      const round = await this.#round(desk);
      const refusal = await decideTwice(desk.records, round.first ?? "");
      this.#screen.line("  A second decision on the first of them is refused:");
      this.#screen.quote(refusal);
    });
  }

  async #crash(): Promise<void> {
    const screen = this.#screen;
    screen.heading("4  A worker carries the decisions out, and is killed half-way through paying");
    const ended = await this.#work({ holdAt: { operation: "pay", count: fatalPayment } });
    screen.keep();
    if (ended.how !== "killed") throw new DeskError("worker-failed", "the worker was not killed");
    screen.line(`  ${screen.red(ended.signal)}, right after payment ${fatalPayment} of this pass:`);
    await this.#withDesk(async (desk, provider) => {
      screen.line(`  ${await banked(desk, provider)}`);
    });
  }

  async #goOn(): Promise<void> {
    this.#screen.heading("5  A new process over the same files goes on");
    this.#report(await this.#work());
    await this.#withDesk(async (desk, provider) => {
      this.#screen.line(`  ${await banked(desk, provider)};`);
      const { again } = provider.asked();
      this.#screen.line(
        `  it was asked ${again} time again, under a key that it had served before`,
      );
    });
  }

  async #laterRounds(): Promise<void> {
    this.#screen.heading("6  What was reviewed and is large asks Femi as well");
    for (let round = 0; round < laterRounds; round += 1) {
      await this.#withDesk((desk) => this.#round(desk));
      this.#report(await this.#work());
    }
  }

  async #tamper(): Promise<void> {
    const screen = this.#screen;
    screen.heading("7  Somebody changes one byte of a waiting run, in a copy of the store");
    const [waiting] = await this.#withDesk((desk) => desk.waiting());
    if (waiting === undefined) throw new Error("nothing waits that could be tampered with");
    const { runId } = waiting.approval;
    const copy = copyStore(this.#folder, "tampered");
    changeOneByte(copy, runId);
    const refusal = await this.#withDesk((desk) => refusalOf(desk, runId), copy);
    screen.line(
      `  ${waiting.request} is refused by the name of its run, before anything of it runs:`,
    );
    screen.quote(refusal);
    await this.#withDesk(async (desk) => {
      const events = await desk.history(runId);
      screen.line(`  In the store itself its ${events.length} events are whole.`);
    });
  }

  #closeBooks(): Promise<Books> {
    const screen = this.#screen;
    screen.heading("8  The books, in minor units: what left, what the runs say, what was allowed");
    return this.#withDesk(async (desk, provider) => {
      const books = keepBooks(await accountsOf(desk, provider, this.#requests, this.#orders));
      reportSums(screen, books);
      screen.line();
      reportTable(screen, books, {
        requests: this.#requests.length,
        badLines: this.#badLines,
        fromLog: await replayedCalls(desk),
        fromKey: provider.asked().again,
      });
      return books;
    });
  }

  async #round(desk: Desk): Promise<Round> {
    const round = await decideSome(desk.records, await desk.waiting(), (args) =>
      edited(desk.tools.payBack, args),
    );
    const { approved, edited: lowered, denied, left } = round;
    this.#screen.line(
      `  ${approved} approved, ${lowered} with a lower amount, ${denied} denied, ${left} left for another day`,
    );
    return round;
  }

  async #work(more: Pick<WorkerOrder, "holdAt"> = {}): Promise<Ended> {
    const progress = new Progress(this.#screen, "requests");
    const files = { folder: this.#folder.path, ...sample };
    return runWorker({ ...files, ...more }, (done, all) => progress.show(done, all));
  }

  #report(ended: Ended): void {
    if (ended.how !== "done") {
      const message = `somebody ended the worker process by ${ended.signal}`;
      throw new DeskError("worker-failed", message);
    }
    reportPass(this.#screen, ended.pass);
  }

  async #withDesk<T>(
    use: (desk: Desk, provider: Provider) => Promise<T>,
    folder = this.#folder,
  ): Promise<T> {
    const provider = new Provider(folder.provider, this.#orders);
    try {
      const desk = await Desk.open(folder, provider, this.#key);
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

async function banked(desk: Desk, provider: Provider): Promise<string> {
  const payments = provider.payments();
  const known = await knownPayments(desk, payments);
  return `the bank has made ${payments.length} payments, the desk knows of ${known}`;
}
