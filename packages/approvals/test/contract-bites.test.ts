// A contract that every store passes proves nothing: each of these stores is broken in one way, and some case says so.
import { describe, expect, it } from "vitest";

import { approvalStoreCases, ContractFailure, type StoreUnderTest } from "../src/contract.ts";
import {
  memoryApprovalStore,
  memoryHome,
  placeOf,
  tableOf,
  type ApprovalStore,
  type CommitOutcome,
  type Write,
} from "../src/index.ts";
import { handClock, tellingTime } from "./world.ts";

type Break = (real: ApprovalStore) => Partial<ApprovalStore>;

const rewriting =
  (rewrite: (write: Write, real: ApprovalStore) => Write | Promise<Write>): Break =>
  (real) => ({
    async commit(attemptId, writes) {
      const rewritten: Write[] = [];
      for (const write of writes) rewritten.push(await rewrite(write, real));
      return real.commit(attemptId, rewritten);
    },
  });

/** Reads the row, then writes over whatever stands by then. */
async function overwriting(write: Write, real: ApprovalStore): Promise<Write> {
  if (tableOf(write.statement) !== "approvals" || write.expect === "any") return write;
  const row = await real.get(write.scope, write.key);
  return { ...write, expect: row?.version ?? 0 };
}

const valued = (change: (text: string) => string): Break =>
  rewriting((write) => {
    const cells = Object.entries(write.values);
    const changed = cells.map(([name, cell]) => [
      name,
      typeof cell === "string" ? change(cell) : cell,
    ]);
    return { ...write, values: Object.fromEntries(changed) as Write["values"] };
  });

const filtered =
  (...members: readonly string[]): Break =>
  (real) => ({
    list: (scope, filter, page) =>
      real.list(
        scope,
        Object.fromEntries(Object.entries(filter).filter(([name]) => !members.includes(name))),
        page,
      ),
  });

const told =
  (change: (outcome: CommitOutcome) => CommitOutcome): Break =>
  (real) => ({ commit: async (...how) => change(await real.commit(...how)) });

const breaks: Readonly<Record<string, Break>> = {
  "compares no versions": rewriting(overwriting),
  "takes any version for none": rewriting((write) =>
    write.expect === "any" ? { ...write, expect: 0 } : write,
  ),
  "applies lists one by one": (real) => ({
    async commit(attemptId, writes) {
      let outcome: CommitOutcome = { status: "done", repeated: false };
      for (const [write, one] of writes.entries()) {
        outcome = await real.commit(attemptId, [one]);
        if (outcome.status === "refused") return { ...outcome, write };
      }
      return outcome;
    },
  }),
  "forgets attempts": (real) => {
    let count = 0;
    return { commit: (_attempt, writes) => real.commit(`own-${(count += 1)}`, writes) };
  },
  "takes every repetition for a first time": told((outcome) =>
    outcome.status === "done" ? { ...outcome, repeated: false } : outcome,
  ),
  "does not say what stands": told((outcome) =>
    outcome.status === "refused" && outcome.refusal.because === "version"
      ? { ...outcome, refusal: { because: "version", stands: undefined } }
      : outcome,
  ),
  "names the wrong write": told((outcome) =>
    outcome.status === "refused" ? { ...outcome, write: outcome.write + 1 } : outcome,
  ),
  "loses answers": told(() => ({ status: "unknown", cause: undefined })),
  "checks no time": rewriting(({ before: _before, ...write }) => write),
  "checks times a moment too late": rewriting((write) =>
    write.before === undefined ? write : { ...write, before: write.before + 1 },
  ),
  "lets writes in too early": rewriting(({ from: _from, ...write }) => write),
  "checks no fence": rewriting(({ fence: _fence, ...write }) => write),
  "checks fences by name only": rewriting((write) =>
    write.fence === undefined ? write : { ...write, fence: { ...write.fence, epoch: 99 } },
  ),
  "has a clock that stands": () => ({ now: async () => 1_000_000 }),
  "trims texts": valued((text) => text.trim()),
  "normalises texts": valued((text) => text.normalize("NFC")),
  "cuts texts": valued((text) => text.slice(0, 65_536)),
  "cuts numbers": rewriting((write) => {
    const cells = Object.entries(write.values);
    const cut = cells.map(([name, cell]) => [name, typeof cell === "number" ? cell | 0 : cell]);
    return { ...write, values: Object.fromEntries(cut) as Write["values"] };
  }),
  "keeps the caller's object": (real) => ({
    commit: async (attemptId, writes) => {
      await Promise.resolve();
      return real.commit(attemptId, writes);
    },
  }),
  "takes any id": (real) => ({
    commit: (...how) => real.commit(...how).catch(() => ({ status: "done", repeated: false })),
  }),
  "refuses bad ids as something else": (real) => ({
    commit: (...how) =>
      real.commit(...how).catch(() => {
        throw new TypeError("bad id");
      }),
  }),
  "applies what is beside a bad id": (real) => ({
    async commit(attemptId, writes) {
      try {
        return await real.commit(attemptId, writes);
      } catch (error) {
        await real.commit("sloppy", writes.slice(0, 1)).catch(() => undefined);
        throw error;
      }
    },
  }),
  "looks up ids in all scopes": (real) => ({
    get: async (scope, id) => (await real.get(scope, id)) ?? real.get("other", id),
  }),
  "looks up keys in all scopes": (real) => ({
    find: async (scope, key) => (await real.find(scope, key)) ?? real.find("other", key),
  }),
  "finds records and the time in all scopes": (real) => {
    const { getNow } = tellingTime(real);
    return {
      getNow: async (scope, id) => {
        const own = await getNow!(scope, id);
        return own.found === undefined ? getNow!("other", id) : own;
      },
    };
  },
  "finds keys and the time in all scopes": (real) => {
    const all: ApprovalStore = {
      ...real,
      find: async (scope, key) => (await real.find(scope, key)) ?? real.find("other", key),
    };
    return { findNow: tellingTime(all).findNow! };
  },
  "tells with a record when it was put": (real) => ({
    getNow: async (scope, id) => ({ found: await real.get(scope, id), now: 1_000_000 }),
  }),
  "tells with keys when they were put": (real) => {
    const { findNow } = tellingTime(real);
    return { findNow: async (...how) => ({ ...(await findNow!(...how)), now: 1_000_000 }) };
  },
  "finds keys in an order of its own": (real) => {
    const { findNow } = tellingTime(real);
    return { findNow: (scope, keys) => findNow!(scope, keys.toSorted()) };
  },
  "finds each key once": (real) => {
    const { findNow } = tellingTime(real);
    return { findNow: (scope, keys) => findNow!(scope, [...new Set(keys)]) };
  },
  "lists all scopes": (real) => ({
    list: async (scope, ...query) => [
      ...(await real.list(scope, ...query)),
      ...(await real.list("other", ...query)),
    ],
  }),
  "tells histories of all scopes": (real) => ({
    history: (_scope, ...query) => real.history("other", ...query),
  }),
  "tells changes of all scopes": (real) => ({
    changes: async (scope, ...query) => [
      ...(await real.changes(scope, ...query)),
      ...(await real.changes("other", ...query)),
    ],
  }),
  "finds no keys": () => ({ find: async () => undefined }),
  "filters by no state": filtered("state"),
  "filters by no tool": filtered("tool"),
  "filters by no run": filtered("runId"),
  "filters by no age": filtered("requestedBefore"),
  "filters by no expiry": filtered("expiresBefore"),
  "filters by one member only": (real) => ({
    list: (scope, filter, page) =>
      real.list(scope, Object.fromEntries(Object.entries(filter).slice(0, 1)), page),
  }),
  "takes a limit of age as inclusive": (real) => ({
    list: (scope, { requestedBefore, ...filter }, page) =>
      real.list(
        scope,
        requestedBefore === undefined
          ? filter
          : { ...filter, requestedBefore: requestedBefore + 1 },
        page,
      ),
  }),
  "takes a limit of expiry as inclusive": (real) => ({
    list: (scope, { expiresBefore, ...filter }, page) =>
      real.list(
        scope,
        expiresBefore === undefined ? filter : { ...filter, expiresBefore: expiresBefore + 1 },
        page,
      ),
  }),
  "takes % in a filter for anything": (real) => ({
    list: async (scope, filter, page) =>
      filter.tool?.includes("%") === true
        ? real.list(scope, {}, page)
        : real.list(scope, filter, page),
  }),
  "knows one order": (real) => ({
    list: (scope, filter, page) => real.list(scope, filter, { ...page, order: "oldest" }),
  }),
  "puts no expiry first": (real) => ({
    list: async (scope, filter, page) => {
      const rows = await real.list(scope, filter, page);
      if (page.order !== "expiring") return rows;
      return rows.toSorted((a, b) => Number(a.values["expiresAt"]) - Number(b.values["expiresAt"]));
    },
  }),
  "orders ids as a language does": (real) => ({
    list: async (scope, filter, page) => {
      const rows = await real.list(scope, filter, page);
      const sign = page.order === "newest" ? -1 : 1;
      return rows.toSorted((a, b) => {
        const [left, right] = [placeOf(a, page.order), placeOf(b, page.order)];
        return sign * (left.value - right.value || left.id.localeCompare(right.id, "en"));
      });
    },
  }),
  "pages by number": (real) => {
    const numbers = new Map<string, number>();
    return {
      async list(scope, filter, { after, ...page }) {
        const all = await real.list(scope, filter, { ...page, limit: 500 });
        const start = after === undefined ? 0 : (numbers.get(after.id) ?? 0);
        const rows = all.slice(start, start + page.limit);
        for (const [at, row] of rows.entries()) numbers.set(row.key, start + at + 1);
        return rows;
      },
    };
  },
  "begins a page at the place itself": (real) => ({
    list: async (scope, filter, page) => {
      const rows = await real.list(scope, filter, page);
      const { after } = page;
      const row = after === undefined ? undefined : await real.get(scope, after.id);
      return row === undefined ? rows : [row, ...rows].slice(0, page.limit);
    },
  }),
  "knows no limit": (real) => ({
    list: (scope, filter, page) => real.list(scope, filter, { ...page, limit: 500 }),
  }),
  "starts histories anew at each page": (real) => ({
    history: (scope, id, _after, limit) => real.history(scope, id, 0, limit),
  }),
  "tells histories backwards": (real) => ({
    history: async (...query) => (await real.history(...query)).toReversed(),
  }),
  "takes an id for a prefix": (real) => ({
    history: async (scope, id, after, limit) => [
      ...(await real.history(scope, id, after, limit)),
      ...(await real.history(scope, `${id}-other`, after, limit)),
    ],
  }),
  "tells changes backwards": (real) => ({
    changes: async (...query) => (await real.changes(...query)).toReversed(),
  }),
  "gives every change one position": (real) => ({
    changes: async (...query) =>
      (await real.changes(...query)).map((change) => ({ ...change, position: 1 })),
  }),
  "gives changes no whole positions": (real) => ({
    changes: async (...query) =>
      (await real.changes(...query)).map((change) => ({
        ...change,
        position: change.position / 2,
      })),
  }),
  "repeats the change at the position": (real) => ({
    changes: (scope, after, limit) => real.changes(scope, Math.max(0, after - 1), limit),
  }),
  "skips a change": (real) => ({
    changes: (scope, after, limit) => real.changes(scope, after === 0 ? 0 : after + 1, limit),
  }),
  "tells no changes": () => ({ changes: async () => [] }),
  "knows no last change": () => ({ lastChange: async () => 0 }),
  "takes one change too many for the last": (real) => ({
    lastChange: async (scope) => (await real.lastChange(scope)) + 1,
  }),
  "never wakes": () => ({ wait: () => new Promise(() => undefined) }),
  "wakes for an abort only": (real) => ({
    wait: (scope, _after, signal) => real.wait(scope, 2 ** 40, signal),
  }),
  "wakes for a change only": (real) => ({
    wait: (scope, after) => real.wait(scope, after, new AbortController().signal),
  }),
};

function broken(breakIt: Break): StoreUnderTest {
  const clock = handClock();
  const home = memoryHome({ clock });
  const make = (): ApprovalStore => {
    const real = memoryApprovalStore(home);
    return { ...real, ...breakIt(real) };
  };
  return {
    store: make(),
    another: make,
    advance: (ms) => clock.move(ms),
    close: () => undefined,
  };
}

/** What a case says of a store; `hangs` where it does not end without real time passing. */
async function verdict(run: Promise<void>): Promise<unknown> {
  let said: unknown = "hangs";
  run.then(
    () => (said = "holds"),
    (error: unknown) => (said = error),
  );
  for (let turn = 0; turn < 50 && said === "hangs"; turn += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return said;
}

describe("the contract", () => {
  it.each(Object.entries(breaks))("APR-24 fails a store that %s", async (_name, breakIt) => {
    const failures: unknown[] = [];
    for (const { run } of approvalStoreCases) {
      const said = await verdict(run(() => broken(breakIt)));
      if (said !== "holds") failures.push(said);
      if (said instanceof ContractFailure) break;
    }
    expect(failures.length).toBeGreaterThan(0);
  });

  it("APR-24 fails a store that cannot be made, and closes each that can", async () => {
    const closed: string[] = [];
    const [first] = approvalStoreCases;
    const under = { ...broken(() => ({ commit: () => Promise.reject(new Error("no")) })) };
    const made = { ...under, close: () => void closed.push("closed") };
    await expect(first!.run(() => made)).rejects.toThrow("no");
    expect(closed).toEqual(["closed"]);
    await expect(first!.run(() => Promise.reject(new Error("cannot")))).rejects.toThrow("cannot");
  });

  it("APR-24 has names that begin with what they show, each once", () => {
    const names = approvalStoreCases.map((one) => one.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^(?:APR|R)-?\d{2,3} /);
  });
});
