/** Ours and the floor as contenders, each on a bed of its own. */
import type { Place } from "../contenders/in-turns.ts";
import type { ApprovalWork } from "../flow/workloads.ts";
import * as byHand from "./floor.ts";
import * as ours from "./holdpoint.ts";
import { postgresBed, sqliteBed, type Bed } from "./stores.ts";

type Run = () => Promise<unknown>;

interface OnStores {
  on(place: Place): Promise<{
    linear(): Run;
    approval(work: ApprovalWork): Run;
    results(): Run;
  }>;
}

function onBeds(side: typeof byHand | typeof ours): OnStores {
  return {
    async on(place) {
      const bed: Bed = await ("sqlite" in place
        ? sqliteBed(place.sqlite)
        : postgresBed(place.postgres));
      return {
        linear: () => side.linear(bed),
        approval: (work) => side.approval(bed, work),
        results: () => side.results(bed),
      };
    },
  };
}

export const floor = onBeds(byHand);
export const holdpoint = onBeds(ours);
