import { memoryHome, type MemoryHome } from "@holdpoint/approvals";
import type { Logger } from "@holdpoint/flow";

import {
  memoryLeaseStore,
  Supervisor,
  type SupervisorOptions,
  type SupervisorStore,
  type Workflow,
} from "../../src/index.ts";
import { storesOn } from "../faulty-stores.ts";
import { timedClock } from "../timed-clock.ts";
import { countingIds, keyring, refunds, type Effects } from "../world.ts";

export const leaseMs = 30_000;
export const pollMs = 5_000;

export type Desk = Supervisor<readonly [ReturnType<typeof refunds>]>;

type More = Partial<Omit<SupervisorOptions<readonly Workflow[]>, "definitions">>;

let worlds = 0;

/** The stores that supervisors stand on. */
export function supervisorStore(home: MemoryHome): SupervisorStore {
  const stores = storesOn({ approvals: home, log: home, runs: home });
  return { ...stores, leases: memoryLeaseStore(home) };
}

/** A world whose supervisors come and go over the same stores. */
export function desks() {
  const clock = timedClock();
  const home = memoryHome({ clock });
  const effects: Effects = { looked: [], paid: [] };
  const refund = refunds(effects);
  const prefix = `s${(worlds += 1)}`;
  const logged: { readonly level: string; readonly message: string; readonly runId?: unknown }[] =
    [];
  const log = (level: string) => (message: string, facts: Readonly<Record<string, unknown>>) =>
    void logged.push({ level, message, ...facts });
  const logger: Logger = { warn: log("warn"), error: log("error") };
  let processes = 0;
  /** A new process, with definitions of its own. */
  const openOf = <const D extends readonly Workflow[]>(definitions: D, more: More = {}) => {
    const ids = countingIds(`${prefix}p${(processes += 1)}`);
    const session = more.sessions === undefined ? { session: "desk" } : {};
    const store = supervisorStore(home);
    const own = { store, keyring, clock, ids, logger, leaseMs, pollMs };
    return new Supervisor<D>({ ...own, ...session, ...more, definitions });
  };
  const open = (more: More = {}): Desk => openOf([refund], more);
  /** One that is active. */
  const activated = async (more: More = {}): Promise<Desk> => {
    const desk = open(more);
    await desk.activate();
    return desk;
  };
  const store = supervisorStore(home);
  return { clock, home, store, effects, refund, open, openOf, activated, logged };
}

/** A home that does what `home` does, and whose every commit goes through `commit`. */
export function homeWith(home: MemoryHome, commit: MemoryHome["commit"]): MemoryHome {
  return Object.assign(Object.create(home) as MemoryHome, { commit });
}
