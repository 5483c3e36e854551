// A process that commits until it is killed, and tells of each commit once it is done.
import { writeSync } from "node:fs";

import { openPostgres } from "../src/index.ts";
import { writesOf } from "./whole-commits.ts";

const [url = "", schema = "", from = "1"] = process.argv.slice(2);
const store = await openPostgres(url, { schema });

for (let number = Number(from); ; number += 1) {
  const outcome = await store.commit(`attempt-${number}`, writesOf(number));
  if (outcome.status !== "done") throw new Error(`commit ${number} is ${outcome.status}`);
  writeSync(1, `${number}\n`);
}
