import { familyOf } from "./id.ts";
import type { SpecRow } from "./rows.ts";

interface Tally {
  ids: number;
  done: number;
  proven: number;
  carried: number;
  tests: number;
}

/** A compact table for a person: one line a family, and the sum. */
export function drawTable(rows: readonly SpecRow[]): string {
  const tallies = new Map<string, Tally>();
  for (const row of rows) {
    const family = familyOf(row.id);
    const tally = tallies.get(family) ?? emptyTally();
    tallies.set(family, tally);
    addRow(tally, row);
  }
  const total = emptyTally();
  for (const row of rows) addRow(total, row);
  const lines = [["", "ids", "done", "passing", "with tests", "test claims"]];
  for (const [family, tally] of tallies) lines.push(cellsOf(family, tally));
  lines.push(cellsOf("all", total));
  return lines.map(drawLine).join("\n");
}

function emptyTally(): Tally {
  return { ids: 0, done: 0, proven: 0, carried: 0, tests: 0 };
}

function addRow(tally: Tally, row: SpecRow): void {
  tally.ids++;
  if (row.state === "done") tally.done++;
  if (row.ok) tally.proven++;
  if (row.tests.length > 0) tally.carried++;
  tally.tests += row.tests.length;
}

function cellsOf(name: string, tally: Tally): string[] {
  const { ids, done, proven, carried, tests } = tally;
  return [name, ...[ids, done, proven, carried, tests].map(String)];
}

function drawLine(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(6) : cell.padStart(13))).join("");
}
