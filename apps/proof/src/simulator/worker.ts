// One thread of a simulation: its share of the seeds.
import { parentPort, workerData } from "node:worker_threads";

import { simulateRange, type Range } from "./range.ts";

parentPort?.postMessage(await simulateRange(workerData as Range));
