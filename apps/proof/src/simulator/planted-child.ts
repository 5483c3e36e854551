// A simulation over a copy of the product with a bug in it: says which seed found it, if one did.
import { simulate } from "./simulate.ts";

const seeds = Number(process.argv[2]);
for (let seed = 1; seed <= seeds; seed += 1) {
  const { faults } = await simulate(seed);
  if (faults[0] === undefined) continue;
  process.stdout.write(JSON.stringify({ seed, fault: faults[0].split("\n")[0] }));
  break;
}
