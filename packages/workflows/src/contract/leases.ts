import { acquireWrite, releaseWrite, renewWrite, type LeaseState } from "../lease/store.ts";
import {
  because,
  leaseCase,
  leaseMs,
  scope,
  standing,
  taken,
  type LeaseCase,
} from "./lease-case.ts";
import { attempt, keysOf, put, same } from "./registry-case.ts";

const by = (owner: string) => (stands: LeaseState, until: number) =>
  acquireWrite(stands, owner, until);

/** Taking, renewing and giving back leases, and what that fences. */
export const leaseCases: readonly LeaseCase[] = [
  leaseCase(
    "WF-20 CASE-122 gives each acquisition an epoch of its own, one more than before, and refuses the same owner under its former one",
    async (under) => {
      const { leases } = under;
      const first = await taken(leases, by("one"));
      same([first.epoch, first.owner, first.version], [1, "one", 1], "the first");
      await under.advance(leaseMs);
      const second = await taken(leases, by("two"));
      same([second.epoch, second.owner, second.version], [2, "two", 2], "after it lapsed");
      await taken(leases, (stands) => releaseWrite(stands));
      const third = await taken(await under.another(), by("two"));
      same([third.epoch, third.owner], [3, "two"], "after it was given back, by the same owner");
      const former = { ...third, epoch: second.epoch };
      const beat = await leases.commit(attempt(), [renewWrite(former, third.until + leaseMs)]);
      same(because(beat), "fenced", "a heartbeat of that owner from before");
    },
  ),

  leaseCase(
    "WF-20 STORE-15 is not taken before it lapses, and is at that instant",
    async (under) => {
      const { leases } = under;
      const held = await taken(leases, by("one"));
      await under.advance(leaseMs - 1);
      const until = held.until + leaseMs;
      const early = await leases.commit(attempt(), [acquireWrite(held, "two", until)]);
      same(because(early), "early", "a moment before");
      same(await standing(leases), held, "what stands");
      await under.advance(1);
      same((await taken(leases, by("two"))).owner, "two", "at the instant");
    },
  ),

  leaseCase("WF-20 is taken by one of any number that try at once", async (under) => {
    const other = await under.another();
    const stands = await standing(under.leases);
    const until = (await under.leases.now()) + leaseMs;
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, at) => {
        const leases = at % 2 === 0 ? under.leases : other;
        return leases.commit(attempt(), [acquireWrite(stands, `owner-${at}`, until)]);
      }),
    );
    same(outcomes.filter(({ status }) => status === "done").length, 1, "who has it");
    same((await standing(other)).epoch, 1, "the epoch");
  }),

  leaseCase(
    "WF-20 STORE-15 is renewed under its epoch until it lapses, and no more",
    async (under) => {
      const { leases } = under;
      const held = await taken(leases, by("one"));
      await under.advance(leaseMs - 1);
      const renewed = await taken(leases, (stands, until) => renewWrite(stands, until));
      same([renewed.epoch, renewed.owner, renewed.version], [1, "one", 2], "a moment before");
      same(renewed.until, held.until + leaseMs - 1, "when it lapses now");
      await under.advance(leaseMs);
      const late = await leases.commit(attempt(), [renewWrite(renewed, renewed.until + leaseMs)]);
      same(because(late), "late", "at the instant");
      same(await standing(leases), renewed, "what stands");
    },
  ),

  leaseCase(
    "WF-20 STORE-15 takes no lease that would have lapsed by the time it stands",
    async (under) => {
      const { leases } = under;
      const until = (await leases.now()) + leaseMs;
      const stands = await standing(leases);
      await under.advance(leaseMs);
      const late = await leases.commit(attempt(), [acquireWrite(stands, "one", until)]);
      same(because(late), "late", "why");
      same((await standing(leases)).version, 0, "what stands");
    },
  ),

  leaseCase(
    "STORE-06 CASE-126 refuses heartbeats and releases under an older epoch",
    async (under) => {
      const { leases } = under;
      const stale = await taken(leases, by("one"));
      await under.advance(leaseMs);
      const held = await taken(await under.another(), by("two"));
      for (const version of [stale.version, held.version]) {
        const woken = { ...stale, version };
        for (const write of [
          renewWrite({ ...woken, until: held.until }, held.until),
          releaseWrite(woken),
        ]) {
          const why = because(await leases.commit(attempt(), [write]));
          same(why, version === held.version ? "fenced" : "version", "why");
        }
      }
      same(await standing(leases), held, "what stands");
    },
  ),

  leaseCase(
    "STORE-06 refuses every write under an older epoch, inside its statement",
    async (under) => {
      const { leases } = under;
      const stale = await taken(leases, by("one"));
      const row = (epoch: number) => ({ ...put("run-1", 0), fence: { name: "desk", epoch } });
      await under.advance(leaseMs);
      await taken(await under.another(), by("two"));
      same(because(await leases.commit(attempt(), [row(stale.epoch)])), "fenced", "why");
      const outcome = await leases.commit(attempt(), [row(2)]);
      same(outcome.status, "done", "a write of the owner");
    },
  ),

  leaseCase("WF-20 repeats an acquisition whose answer was lost", async (under) => {
    const { leases } = under;
    const id = attempt();
    const write = acquireWrite(await standing(leases), "one", (await leases.now()) + leaseMs);
    same(await leases.commit(id, [write]), { status: "done", repeated: false }, "first");
    same(await leases.commit(id, [write]), { status: "done", repeated: true }, "the same again");
    same((await standing(leases)).epoch, 1, "the epoch");
  }),

  leaseCase(
    "WF-20 keeps the leases of names and scopes apart, and lists them by name",
    async (under) => {
      const { leases } = under;
      for (const name of ["b", "a", "B", "c"]) await taken(leases, by("one"), name);
      const foreign = acquireWrite(await standing(leases, "a", "other"), "two", 1e12);
      await leases.commit(attempt(), [foreign]);
      same((await standing(leases, "a")).owner, "one", "in its scope");
      same((await standing(leases, "a", "other")).owner, "two", "in the other");
      same(keysOf(await leases.list(scope, { limit: 2 })), ["B", "a"], "the first page");
      same(keysOf(await leases.list(scope, { after: "a", limit: 9 })), ["b", "c"], "the rest");
      same(keysOf(await leases.list("nowhere", { limit: 9 })), [], "where there are none");
    },
  ),
];
