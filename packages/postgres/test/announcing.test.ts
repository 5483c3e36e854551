// One connection that listens: what becomes of it when it is not wanted any more, at whatever moment.
import { describe, expect, it } from "vitest";

import { Announcements } from "../src/announcing.ts";
import { ChangeFeed } from "../src/change-feed.ts";
import { machineClock } from "../src/clock.ts";
import { PostgresHome } from "../src/home.ts";
import type { PostgresQuery, PostgresResult } from "../src/index.ts";
import { scriptedPool } from "./scripted-pool.ts";

const done: PostgresResult = { rows: [], command: "LISTEN" };

/** A promise, and what settles it. */
function gate<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

function homeOver(
  query: (asked: PostgresQuery) => Promise<PostgresResult>,
  connecting?: () => Promise<unknown>,
) {
  const { pool, clients } = scriptedPool(query, connecting);
  const settings = {
    schema: "desk",
    now: "0::bigint",
    named: false,
    listens: true,
    statementMs: 1_000,
    // Nothing here waits for a time.
    timers: { monotonic: () => 0, timer: () => () => undefined },
    end: undefined,
  };
  return { home: new PostgresHome(pool, settings), clients };
}

/** Lets what was set off come to rest. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a connection that listens", () => {
  it("STORE-04 APR-27 is closed where listening ended before it was there", async () => {
    const connecting = gate();
    const { home, clients } = homeOver(
      () => Promise.resolve(done),
      () => connecting.promise,
    );
    const heard: unknown[] = [];
    const announcements = new Announcements(home, (scope) => heard.push(scope));
    announcements.listen();
    announcements.stop();
    connecting.resolve();
    await settled();
    expect(clients.map(({ released }) => released?.message)).toEqual(["it listened"]);
    expect([announcements.isListening, heard]).toEqual([false, []]);
  });

  it("STORE-04 APR-27 that another one has replaced meanwhile leaves that one alone", async () => {
    const connecting = [gate(), gate()];
    let asked = 0;
    const { home, clients } = homeOver(
      () => Promise.resolve(done),
      () => connecting[asked++]!.promise,
    );
    const announcements = new Announcements(home, () => undefined);
    announcements.listen();
    announcements.stop();
    announcements.listen();
    connecting[1]!.resolve();
    await settled();
    expect([announcements.isListening, clients[0]!.isBack]).toEqual([true, false]);
    connecting[0]!.resolve();
    await settled();
    expect([announcements.isListening, clients[0]!.isBack]).toEqual([true, false]);
    expect(clients[1]!.released).toMatchObject({ message: "it listened" });
  });

  it("STORE-04 APR-27 is not said to listen where that ended before the server had answered", async () => {
    const answer = gate<PostgresResult>();
    const { home, clients } = homeOver(() => answer.promise);
    const heard: unknown[] = [];
    const announcements = new Announcements(home, (scope) => heard.push(scope));
    announcements.listen();
    await settled();
    announcements.stop();
    answer.resolve(done);
    await settled();
    expect([announcements.isListening, heard]).toEqual([false, []]);
    expect(clients[0]!.released).toMatchObject({ message: "it listened" });
  });

  it("STORE-04 APR-27 that is lost is told of once, and what it says afterwards is not", async () => {
    const { home, clients } = homeOver(() => Promise.resolve(done));
    const heard: unknown[] = [];
    const announcements = new Announcements(home, (scope) => heard.push(scope));
    announcements.listen();
    await settled();
    heard.length = 0;
    clients[0]!.emits.emit("error");
    clients[0]!.emits.emit("end");
    expect([announcements.isListening, heard]).toEqual([false, [undefined]]);
  });

  it("STORE-04 APR-27 hears of its own channel alone, whatever else its owner listens to", async () => {
    const { home, clients } = homeOver(() => Promise.resolve(done));
    const heard: unknown[] = [];
    const announcements = new Announcements(home, (scope) => heard.push(scope));
    announcements.listen();
    await settled();
    heard.length = 0;
    clients[0]!.emits.emit("notification", { channel: "orders", payload: "acme" });
    clients[0]!.emits.emit("notification", { channel: "desk_changes", payload: "acme" });
    expect(heard).toEqual(["acme"]);
  });

  it("STORE-04 APR-27 that can't be made is asked for again by the next who waits", async () => {
    let refuses = true;
    const { home, clients } = homeOver(
      () => Promise.resolve(done),
      () => (refuses ? Promise.reject(new Error("connection refused")) : Promise.resolve()),
    );
    const announcements = new Announcements(home, () => undefined);
    announcements.listen();
    await settled();
    expect([announcements.isListening, clients.length]).toEqual([false, 0]);
    refuses = false;
    announcements.listen();
    await settled();
    expect([announcements.isListening, clients.length]).toEqual([true, 1]);
  });
});

describe("a look for changes", () => {
  it("STORE-04 APR-27 wakes nobody who began to wait after it was asked", async () => {
    const looks: { readonly scopes: unknown; readonly answers: (rows: object[]) => void }[] = [];
    const { home } = homeOver(({ text, values }) => {
      if (!text.includes("wanted.scope")) return Promise.resolve(done);
      const { promise, resolve } = gate<PostgresResult>();
      looks.push({
        scopes: values[0],
        answers: (rows) => resolve({ rows, command: "SELECT" }),
      });
      return promise;
    });
    const feed = new ChangeFeed(home);
    const forever = new AbortController().signal;
    const woken: string[] = [];
    const waits = (scope: string) => feed.wait(scope, 0, forever).then(() => woken.push(scope));
    const none = (scope: string) => [{ scope, position: null }];
    const first = waits("first");
    await settled();
    looks.shift()!.answers(none("first")); // there is nothing so far
    await settled();
    const look = looks.shift()!; // listening now, it looks once more
    expect(look.scopes).toEqual(["first"]);
    const second = waits("second");
    await settled();
    looks.shift()!.answers(none("second"));
    look.answers([{ scope: "first", position: "1" }]);
    await first;
    await settled();
    expect(woken).toEqual(["first"]);
    await home.close();
    await second;
    expect(woken).toEqual(["first", "second"]);
  });
});

describe("the machine's clock of a store", () => {
  it("STORE-15 tells wall time and passing time, and takes timers back", async () => {
    const fired: string[] = [];
    machineClock.timer(0, () => fired.push("taken back"))();
    await new Promise<void>((resolve) => machineClock.timer(1, resolve));
    expect(fired).toEqual([]);
    const [wall, passing] = [machineClock.now(), machineClock.monotonic()];
    expect(Math.abs(wall - Date.now())).toBeLessThan(60_000);
    expect(machineClock.monotonic()).toBeGreaterThanOrEqual(passing);
  });
});
