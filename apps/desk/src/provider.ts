/**
 * The world outside the desk: the order book, the bank and the post, in a database of their own. What happens here can't be
 * rolled back by any store of the desk's, exactly as with a real payment provider.
 *
 * P1 Every operation takes an idempotency key, and does under one key what it did first; another wish under a key that was
 *    used is refused.
 * P2 Every asking is counted, the repeated ones too: what the desk asked twice shows.
 * P3 Items are claimed by one request at a time, so that two requests for one order never pay the same thing back twice.
 */
import type { DatabaseSync } from "node:sqlite";

import type { Currency, Money } from "./money.ts";
import type { Order } from "./orders.ts";
import { openProviderFile } from "./provider-file.ts";
import type { Item } from "./requests.ts";

/** What the outside can be asked for. */
export type Operation = "look_up" | "claim" | "release" | "allow_late" | "pay" | "letter";

/** Told after an operation was committed and before its caller hears of it; `count` counts those of this process. */
export type Committed = (operation: Operation, count: number) => Promise<void> | void;

export interface Asking {
  readonly request: string;
  readonly key: string;
}

/** An asking by a tool's call, under the key that stays with that call through crashes and retries. */
export function askingOf(request: string, call: { readonly idempotencyKey: string }): Asking {
  return { request, key: call.idempotencyKey };
}

/** A payment as the bank keeps it. */
export interface Payment extends Money {
  readonly id: string;
  readonly request: string;
}

export interface Letter {
  readonly kind: "paid" | "refused";
  readonly recipient: string;
  readonly body: string;
}

export class Provider {
  readonly #database: DatabaseSync;
  readonly #orders: ReadonlyMap<string, Order>;
  readonly #committed: Committed;
  readonly #counts = new Map<Operation, number>();

  /** @throws DeskError `database-foreign` */
  constructor(file: string, orders: ReadonlyMap<string, Order>, committed: Committed = () => {}) {
    this.#database = openProviderFile(file);
    this.#orders = orders;
    this.#committed = committed;
  }

  /** An order, as the order book has it. */
  lookUp(asking: Asking, id: string): Promise<Order> {
    return this.#take("look_up", asking, () => this.#order(id));
  }

  /** Takes as much of what was ordered as no other request has. P3 */
  claim(asking: Asking, id: string, items: readonly Item[]): Promise<readonly Item[]> {
    return this.#take("claim", asking, (repeated) => {
      if (!repeated) for (const item of items) this.#claimLine(asking, id, item);
      const rows = this.#all("select sku, quantity from claims where key = ?", asking.key);
      return rows.map((row) => ({ sku: String(row["sku"]), quantity: Number(row["quantity"]) }));
    });
  }

  /** Gives everything back that a request has claimed. */
  release(asking: Asking): Promise<void> {
    return this.#take("release", asking, () => {
      this.#run("update claims set released = 1 where request = ?", asking.request);
    });
  }

  /** Notes that a person let a late request through. */
  allowLate(asking: Asking, days: number): Promise<void> {
    return this.#take("allow_late", asking, (repeated) => {
      if (repeated) return;
      this.#run("insert into exceptions values (?, ?, ?)", asking.key, asking.request, days);
    });
  }

  /** Pays. @throws Error where the key was used for another payment */
  pay(asking: Asking, { currency, minor }: Money): Promise<Payment> {
    return this.#take("pay", asking, (repeated) => {
      const { key, request } = asking;
      if (!repeated) {
        const columns = "(key, request, currency, minor)";
        this.#run(
          `insert into payments ${columns} values (?, ?, ?, ?)`,
          key,
          request,
          currency,
          minor,
        );
      }
      const [payment] = this.#payments("where key = ?", key);
      const same = payment?.request === request && payment.currency === currency;
      if (payment === undefined || !same || payment.minor !== minor) {
        throw new Error(`the idempotency key of ${request} was used for another payment`); // P1
      }
      return payment;
    });
  }

  /** Sends a letter; answers its number. */
  send(asking: Asking, { kind, recipient, body }: Letter): Promise<string> {
    return this.#take("letter", asking, (repeated) => {
      if (!repeated) {
        const columns = "(key, request, kind, recipient, body)";
        const values = [asking.key, asking.request, kind, recipient, body];
        this.#run(`insert into letters ${columns} values (?, ?, ?, ?, ?)`, ...values);
      }
      const [row] = this.#all("select id from letters where key = ?", asking.key);
      return `L-${String(row?.["id"])}`;
    });
  }

  /** Every payment that was made. */
  payments(): readonly Payment[] {
    return this.#payments("order by id");
  }

  /** How many letters each request got, by kind. */
  letters(): readonly {
    readonly request: string;
    readonly kind: string;
    readonly count: number;
  }[] {
    const rows = this.#all(
      "select request, kind, count(*) as count from letters group by request, kind",
    );
    return rows.map((row) => ({
      request: String(row["request"]),
      kind: String(row["kind"]),
      count: Number(row["count"]),
    }));
  }

  /** What each request holds of an order, released claims left out. */
  claims(): readonly (Item & { readonly order: string; readonly request: string })[] {
    const rows = this.#all(
      "select order_id, sku, request, quantity from claims where released = 0",
    );
    return rows.map((row) => ({
      order: String(row["order_id"]),
      sku: String(row["sku"]),
      request: String(row["request"]),
      quantity: Number(row["quantity"]),
    }));
  }

  /** Askings, and how many of them came under a key that had been served before. P2 */
  asked(): { readonly all: number; readonly again: number } {
    const [row] = this.#all(
      "select count(*) as every, count(distinct operation || ' ' || key) as once from asks",
    );
    const all = Number(row?.["every"]);
    return { all, again: all - Number(row?.["once"]) };
  }

  close(): void {
    this.#database.close();
  }

  /** P1, P2: one operation, one transaction. */
  async #take<T>(
    operation: Operation,
    { key, request }: Asking,
    work: (repeated: boolean) => T,
  ): Promise<T> {
    this.#database.exec("begin immediate");
    let result: T;
    try {
      const seen = "select 1 from asks where operation = ? and key = ? limit 1";
      const repeated = this.#all(seen, operation, key).length > 0;
      const columns = "(operation, key, request)";
      this.#run(`insert into asks ${columns} values (?, ?, ?)`, operation, key, request);
      result = work(repeated);
      this.#database.exec("commit");
    } catch (error) {
      this.#database.exec("rollback");
      throw error;
    }
    const count = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, count);
    await this.#committed(operation, count);
    return result;
  }

  #claimLine({ key, request }: Asking, id: string, { sku, quantity }: Item): void {
    const line = this.#order(id).lines.find((one) => one.sku === sku);
    const [row] = this.#all(
      "select coalesce(sum(quantity), 0) as taken from claims where order_id = ? and sku = ? and released = 0",
      id,
      sku,
    );
    const granted = Math.min(quantity, (line?.quantity ?? 0) - Number(row?.["taken"]));
    if (granted <= 0) return;
    const columns = "(key, request, order_id, sku, quantity)";
    const values = [key, request, id, sku, granted];
    this.#run(`insert into claims ${columns} values (?, ?, ?, ?, ?)`, ...values);
  }

  #order(id: string): Order {
    const order = this.#orders.get(id);
    if (order === undefined) throw new Error(`there is no order ${id}`);
    return order;
  }

  #payments(where: string, ...values: (string | number)[]): Payment[] {
    const rows = this.#all(`select id, request, currency, minor from payments ${where}`, ...values);
    return rows.map((row) => ({
      id: `P-${String(row["id"])}`,
      request: String(row["request"]),
      currency: String(row["currency"]) as Currency,
      minor: Number(row["minor"]),
    }));
  }

  #all(sql: string, ...values: (string | number)[]) {
    return this.#database.prepare(sql).all(...values);
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#database.prepare(sql).run(...values);
  }
}
