import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { readOrders } from "../src/orders.ts";
import { readRequests } from "../src/requests.ts";
import { sample } from "../src/sample.ts";
import { temporaryFolder } from "./folder.ts";

const orders = new Map(readOrders(sample.orders).good.map((order) => [order.id, order]));
const good = {
  id: "R-0001",
  order: "A-1001",
  customer: "Tomás",
  received: "2026-02-01",
  items: [{ sku: orders.get("A-1001")!.lines[0]!.sku, quantity: 1 }],
  reason: "wrong colour",
};
const line = (changes: object = {}): string => JSON.stringify({ ...good, ...changes });

const wrong = (changes: object = {}): string => line({ id: "R-0003", ...changes });

function read(content: string | Uint8Array) {
  const file = join(temporaryFolder(), "requests.jsonl");
  writeFileSync(file, content);
  return readRequests(file, orders);
}

describe("the reader of requests", () => {
  it("DESK-01 takes the sample's 200 requests and names each of its bad lines by number", () => {
    const { good: requests, bad } = readRequests(sample.requests, orders);
    expect(requests).toHaveLength(200);
    expect(bad.map(({ line: number, why }) => `${number} ${why}`)).toEqual([
      "13 it is not JSON",
      "41 order: Invalid input: expected string, received undefined",
      "67 items[0].quantity: Invalid input: expected number, received string",
      "91 order: there is no order A-9999",
      "112 atMostMinor: Too small: expected number to be >0",
      "136 id: the request R-0007 was there before",
      "151 atMostMinor: Invalid input: expected int, received number",
      "172 items: Too small: expected array to have >=1 items",
      "191 received: Invalid ISO date",
    ]);
    expect(new Set(bad.map(({ file }) => file))).toEqual(new Set([sample.requests]));
  });

  it.each([
    ["broken JSON", wrong().slice(0, 40), "it is not JSON"],
    ["a value that is no object", "[]", "Invalid input: expected object, received array"],
    ["a member nobody knows", wrong({ admin: true }), 'Unrecognized key: "admin"'],
    ["a missing member", wrong({ customer: undefined }), "customer: Invalid input"],
    ["a wrong type", wrong({ reason: 7 }), "reason: Invalid input"],
    ["a negative amount", wrong({ atMostMinor: -1 }), "atMostMinor: Too small"],
    ["an amount in major units", wrong({ atMostMinor: 12.99 }), "atMostMinor: Invalid input"],
    ["an amount past the exact", wrong({ atMostMinor: 2 ** 53 }), "atMostMinor: Too big"],
    ["a day that is none", wrong({ received: "2026-02-30" }), "received: Invalid ISO date"],
    ["an unknown order", wrong({ order: "A-9999" }), "order: there is no order A-9999"],
    ["a thing that is not on the order", wrong({ items: [{ sku: "X", quantity: 1 }] }), "has no X"],
    ["one thing twice", wrong({ items: [...good.items, ...good.items] }), "items: one thing twice"],
    ["a line without an end", `"${"x".repeat(70_000)}"`, "it is longer than 65536 bytes"],
  ])("DESK-01 reports %s, and goes on with the lines around it", (_, text, why) => {
    const { good: requests, bad } = read(`${line()}\n${text}\n${line({ id: "R-0002" })}\n`);
    expect(requests.map(({ id }) => id)).toEqual(["R-0001", "R-0002"]);
    expect(bad).toHaveLength(1);
    expect(bad[0]).toMatchObject({ line: 2, why: expect.stringContaining(why) as string });
  });

  it("DESK-01 reports a line that is no UTF-8", () => {
    const bytes = Buffer.concat([
      Buffer.from(`${line()}\n{"id":"`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`"}\n`),
    ]);
    expect(read(bytes).bad).toMatchObject([{ line: 2, why: "it is not UTF-8" }]);
  });

  it("DESK-01 takes an id once, and a bad line does not use one up", () => {
    const lines = [line({ reason: 7 }), line(), line({ reason: "again" })];
    const { good: requests, bad } = read(lines.join("\n"));
    expect(requests).toMatchObject([{ reason: "wrong colour" }]);
    expect(bad.map(({ line: number }) => number)).toEqual([1, 3]);
  });

  it("keeps names as they are, whatever they hold, and takes Windows line ends", () => {
    const names = ["<script>alert(1)</script>", "🦊 👩‍👩‍👧", "‮abc", `"';--`, "x".repeat(200)];
    const lines = names.map((customer, at) => line({ id: `R-000${at}`, customer }));
    const { good: requests, bad } = read(`${lines.join("\r\n")}\r\n\r\n`);
    expect(bad).toEqual([]);
    expect(requests.map(({ customer }) => customer)).toEqual(names);
  });

  it("names a file that can't be read", () => {
    expect(() => readRequests("/nowhere/requests.jsonl", orders)).toThrow(
      "the file /nowhere/requests.jsonl can't be read",
    );
  });
});
