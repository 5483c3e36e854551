import { print, stopwatch } from "../command.ts";
import { simulate } from "./simulate.ts";

const from = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 100);
const took = stopwatch();
let failed = 0;
let steps = 0;
const seen = new Map<string, number>();
for (let seed = from; seed < from + count; seed += 1) {
  const done = await simulate(seed);
  steps += done.steps;
  for (const [name, n] of done.seen) seen.set(name, (seen.get(name) ?? 0) + n);
  if (done.faults.length > 0) {
    failed += 1;
    print(
      `seed ${seed} ${JSON.stringify(done.profile.mode)} ${done.profile.layout} ${done.profile.flows}: ${done.faults.slice(0, 3).join(" | ").slice(0, 600)}`,
    );
    if (count === 1) for (const line of done.trace()) print(line);
  }
}
print(`${failed} of ${count} failed, ${steps} steps, ${took()}`);
for (const [name, n] of [...seen].toSorted()) print(`  ${name}: ${n}`);
