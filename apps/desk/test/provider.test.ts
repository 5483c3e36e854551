import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it, onTestFinished } from "vitest";

import { readOrders } from "../src/orders.ts";
import { Provider, type Committed } from "../src/provider.ts";
import { sample } from "../src/sample.ts";
import { temporaryFolder } from "./folder.ts";

const orders = new Map(readOrders(sample.orders).good.map((order) => [order.id, order]));
const amount = { currency: "EUR", minor: 1_250 } as const;

function provider(file = join(temporaryFolder(), "provider.db"), committed?: Committed): Provider {
  const opened = new Provider(file, orders, committed);
  onTestFinished(() => opened.close());
  return opened;
}

describe("the provider", () => {
  it("DESK-03 pays once under one key, and says the same again", async () => {
    const bank = provider();
    const first = await bank.pay({ request: "R-0001", key: "k1" }, amount);
    const again = await bank.pay({ request: "R-0001", key: "k1" }, amount);
    expect(again).toEqual(first);
    expect(bank.payments()).toHaveLength(1);
    expect(bank.asked()).toEqual({ all: 2, again: 1 });
  });

  it("DESK-03 pays twice under two keys, so a key that is not kept shows", async () => {
    const bank = provider();
    await bank.pay({ request: "R-0001", key: "k1" }, amount);
    await bank.pay({ request: "R-0001", key: "k2" }, amount);
    expect(bank.payments()).toHaveLength(2);
    expect(bank.asked().again).toBe(0);
  });

  it("refuses another payment under a key that was used, and changes nothing", async () => {
    const bank = provider();
    await bank.pay({ request: "R-0001", key: "k1" }, amount);
    for (const other of [
      { ...amount, minor: 1_251 },
      { ...amount, currency: "USD" as const },
    ]) {
      await expect(bank.pay({ request: "R-0001", key: "k1" }, other)).rejects.toThrow(
        "the idempotency key of R-0001 was used for another payment",
      );
    }
    await expect(bank.pay({ request: "R-0002", key: "k1" }, amount)).rejects.toThrow("R-0002");
    expect(bank.payments()).toHaveLength(1);
  });

  it("grants a thing to one request, the rest to the next, and what is given back again", async () => {
    const book = provider();
    const order = [...orders.values()].find(({ lines }) => lines.some((one) => one.quantity > 1))!;
    const { sku, quantity } = order.lines.find((line) => line.quantity > 1)!;
    const claim = (request: string, wanted: number) =>
      book.claim({ request, key: request }, order.id, [{ sku, quantity: wanted }]);
    expect(await claim("R-0001", quantity - 1)).toEqual([{ sku, quantity: quantity - 1 }]);
    expect(await claim("R-0002", quantity)).toEqual([{ sku, quantity: 1 }]);
    expect(await claim("R-0003", 1)).toEqual([]);
    expect(await claim("R-0001", quantity - 1)).toEqual([{ sku, quantity: quantity - 1 }]);
    await book.release({ request: "R-0002", key: "back" });
    expect(await claim("R-0004", 5)).toEqual([{ sku, quantity: 1 }]);
  });

  it("tells of an operation after it stands and before it is answered", async () => {
    const file = join(temporaryFolder(), "provider.db");
    const seen: unknown[] = [];
    const bank = provider(file, (operation, count) => {
      const other = new DatabaseSync(file);
      const found = other.prepare("select count(*) as made from payments").get();
      seen.push([operation, count, found?.["made"]]);
      other.close();
    });
    await bank.pay({ request: "R-0001", key: "k1" }, amount);
    await bank.pay({ request: "R-0002", key: "k2" }, amount);
    expect(seen).toEqual([
      ["pay", 1, 1],
      ["pay", 2, 2],
    ]);
  });

  it("refuses a file of another program by name, and leaves it as it was", () => {
    const file = join(temporaryFolder(), "other.db");
    const other = new DatabaseSync(file);
    other.exec("create table theirs (id integer)");
    other.close();
    expect(() => provider(file)).toThrow(`${file} is the database of another program`);
    const after = new DatabaseSync(file);
    expect(after.prepare("select name from sqlite_schema").all()).toMatchObject([
      { name: "theirs" },
    ]);
    after.close();
    const text = join(temporaryFolder(), "text.db");
    writeFileSync(text, "not a database ".repeat(100));
    expect(() => provider(text)).toThrow(`${text} is no database of the provider`);
  });

  it("keeps a short text that stands in its file's place", () => {
    const file = join(temporaryFolder(), "note.db");
    writeFileSync(file, "not a database");
    expect(() => provider(file)).toThrow(`${file} is no database of the provider`);
    expect(readFileSync(file, "utf8")).toBe("not a database");
  });

  it("refuses a file of its own that can only be read, at once, and does not call it another's", () => {
    const file = join(temporaryFolder(), "provider.db");
    new Provider(file, orders).close();
    expect(() => provider(`file:${file}?mode=ro`)).toThrow(
      expect.objectContaining({ code: "database-unusable" }) as Error,
    );
  });
});
