import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

/** The records of a vector file; `folder/name.jsonl`. */
export function vectors<Row>(name: string): Row[] {
  const text = readFileSync(new URL(`vectors/${name}`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

export function vectorLines(name: string): string[] {
  const text = readFileSync(new URL(`vectors/${name}`, import.meta.url), "utf8");
  return text.split("\n").filter((line) => line !== "");
}

/** The value of a JavaScript expression of a vector, unpacked from any promise of its own making. */
export function evaluate(expression: string): unknown {
  return runInThisContext(`(${expression})`);
}
