import { relative } from "node:path";

import type { Books } from "./books.ts";
import type { Waiting } from "./desk.ts";
import { groupedBy } from "./group.ts";
import type { BadLine } from "./lines.ts";
import { currencies } from "./money.ts";
import type { Screen } from "./screen.ts";
import { tableOf } from "./table.ts";
import type { Pass } from "./work.ts";

/** More of them than this say nothing new about a file. */
const badLinesMax = 20;

/** Each bad line by file and number; the rest of a long list as a count. */
export function reportBadLines(screen: Screen, bad: readonly BadLine[]): void {
  for (const [file, lines] of groupedBy(bad, (one) => one.file)) {
    screen.line(`  ${relative("", file) || file}`);
    for (const { line, why } of lines.slice(0, badLinesMax)) {
      screen.line(`  ${screen.red(`line ${String(line).padEnd(4)}`)} ${why}`);
    }
    const more = lines.length - badLinesMax;
    if (more > 0) screen.line(`  … and ${more} more bad lines`);
  }
}

export function reportPass(screen: Screen, pass: Pass): void {
  const { completed, waiting, elsewhere, setAside } = pass;
  screen.line(`  ${completed} are done, ${waiting} wait for a person`);
  if (elsewhere > 0) screen.line(`  ${elsewhere} are being worked on by another process`);
  for (const { request, why } of setAside) {
    screen.line(`  ${screen.red("set aside")} ${request}: ${why}`);
  }
}

const shownMax = 6;

/** What waits, the oldest first: which tool, for which run. Arguments are for the person who decides. */
export function reportWaiting(screen: Screen, waiting: readonly Waiting[]): void {
  if (waiting.length === 0) return;
  const rows = waiting
    .slice(0, shownMax)
    .map(({ request, approval: { id, tool, rule } }) => [
      id.slice(0, 8),
      request,
      rule.title ?? tool,
      rule.approvers?.join(", ") ?? "anybody",
    ]);
  const columns = ["approval", "request", "what", "who may decide"].map((title) => ({ title }));
  const [titles = "", ...lines] = tableOf(columns, rows);
  screen.line(screen.dim(titles));
  for (const line of lines) screen.line(line);
  const more = waiting.length - rows.length;
  if (more > 0) screen.line(`  … and ${more} more`);
}

/** The sums by currency, in minor units: exactly what is compared. */
export function reportSums(screen: Screen, { lines }: Books): void {
  const columns = [
    { title: "currency" },
    { title: "bank", align: "right" },
    { title: "runs", align: "right" },
    { title: "allowed", align: "right" },
    { title: "unit" },
  ] as const;
  const rows = lines.map(({ left, said, allowed }) => [
    left.currency,
    String(left.minor),
    String(said.minor),
    String(allowed.minor),
    `1/${10 ** currencies[left.currency].digits}`,
  ]);
  const [titles = "", ...sums] = tableOf(columns, rows);
  screen.line(screen.dim(titles));
  for (const sum of sums) screen.line(sum);
}

/** The closing table. */
export function reportTable(
  screen: Screen,
  books: Books,
  counted: {
    readonly requests: number;
    readonly badLines: number;
    readonly fromLog: number;
    readonly fromKey: number;
  },
): void {
  const { counts, doublePayments, wrong } = books;
  const balance = wrong.length === 0 ? screen.green("yes") : screen.red("NO");
  const rows: (readonly [string, string | number])[] = [
    ["requests", counted.requests],
    ["bad lines", counted.badLines],
    ["paid once", counts.paid - doublePayments],
    ["denied", counts.denied],
    ["refused by rule", counts.refused],
    ["waiting", counts.waiting],
    ["set aside", counts["set-aside"]],
    ["replayed calls", counted.fromLog + counted.fromKey],
    ["double payments", doublePayments],
    ["books balance", balance],
  ];
  for (const [name, value] of rows) screen.line(`  ${name.padEnd(17)}${value}`);
  for (const what of wrong) screen.line(`  ${screen.red(what)}`);
}
