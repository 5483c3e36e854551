// One process of the kill proof: takes up what an earlier one was killed at, says what it found, and is killed at the next point.
import type { Heard } from "./verdict.ts";
import { recovered } from "./verdict.ts";
import { carryOut } from "./request.ts";
import type { KillPoint } from "./dying.ts";
import { tell, worldIn, type Layout } from "./world.ts";

export interface Job {
  readonly folder: string;
  readonly layout: Layout;
  /** The run to take up, by its start key, with what its callers had heard; where it dies of that again. */
  readonly recover?: { readonly key: string; readonly heard: Heard; readonly point?: KillPoint };
  /** The run to begin, and where that ends; without a point it is carried out. */
  readonly begin?: { readonly key: string; readonly point?: KillPoint };
}

const job = JSON.parse(process.argv[2] ?? "{}") as Job;
const world = worldIn(job.folder, job.layout);
if (job.recover !== undefined) {
  const { key, heard, point } = job.recover;
  if (point !== undefined) world.dying.arm(point);
  const verdict = await recovered(world, key, heard);
  world.dying.disarm();
  tell({ told: "verdict", key, verdict });
}
if (job.begin !== undefined) {
  const { key, point } = job.begin;
  world.dying.arm(point);
  await carryOut(world, key);
  await world.desk.waitIdle();
}
