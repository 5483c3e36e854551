// One process of the kill proof: takes up what an earlier one was killed at, says what it found, and is killed at the next point.
import { allTold, carryOut } from "./request.ts";
import type { KillPoint } from "./dying.ts";
import { recovered, type Heard, type Request } from "./verdict.ts";
import { tell, worldIn, type WorldHow } from "./world.ts";

export interface Job extends WorldHow {
  /** Where it dies while it takes up what is there. */
  readonly dies?: KillPoint;
  /** The run to take up and to carry to its end, with what its callers had heard. */
  readonly recover?: Request & { readonly heard: Heard };
  /** The run to begin, and where that ends; without a point it is carried out. */
  readonly begin?: Request & { readonly point?: KillPoint };
}

const job = JSON.parse(process.argv[2] ?? "{}") as Job;
const world = await worldIn(job);
const { dying } = world;
if (job.dies !== undefined) dying.arm(job.dies);
await world.takeUp();
if (job.recover !== undefined) {
  const { key, heard } = job.recover;
  const verdict = await recovered(world, job.recover, heard);
  dying.disarm();
  tell({ told: "verdict", key, verdict });
}
if (job.begin !== undefined) {
  const { scenario, key, point } = job.begin;
  dying.arm(point);
  await carryOut(world, scenario, key);
  await world.desk.waitIdle();
  await allTold(world);
}
await world.close();
