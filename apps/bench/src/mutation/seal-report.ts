import { equivalents } from "./equivalents.ts";
import type { Mutant } from "./mutants.ts";

/** What noticed a mutant that the quick tests did not. */
export const LATE = "the other tests";

export interface Result {
  readonly mutant: Mutant;
  /** The test that noticed it, or how its process ended. */
  by: string | undefined;
}

interface Run {
  readonly command: string;
  readonly results: readonly Result[];
  /** Sources by file. */
  readonly texts: ReadonlyMap<string, string>;
  /** Mutants that there are. */
  readonly all: number;
  readonly tests: number;
}

/** `canonical/scan.ts:52 < to <=` */
export function placeOf({ file, line, kind }: Mutant): string {
  return `${file.slice(4)}:${line} ${kind}`;
}

/** Why a mutant changes nothing that a caller can see, where that is known. */
function reasonOf({ file, line, kind }: Mutant, texts: Run["texts"]): string | undefined {
  const code = texts.get(file)!.split("\n")[line - 1]!;
  return equivalents.find(
    (known) =>
      `src/${known.file}` === file && code.includes(known.code) && known.kinds.includes(kind),
  )?.reason;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
}

function rowOf(mutant: Mutant, more: readonly string[] = []): string {
  const place = `${mutant.file.slice(4)}:${mutant.line}`;
  return `| ${[place, mutant.kind.replaceAll("|", "\\|"), ...more].join(" | ")} |`;
}

export function reportOf({ command, results, texts, all, tests }: Run): string {
  const killed = results.filter(({ by }) => by !== undefined);
  const alive = results.filter(({ by }) => by === undefined).map(({ mutant }) => mutant);
  const known = alive.filter((mutant) => reasonOf(mutant, texts) !== undefined);
  const open = alive.filter((mutant) => !known.includes(mutant));
  const endless = killed.filter(({ by }) => by === "stuck").length;
  const late = killed.filter(({ by }) => by === LATE).length;
  const byFile = [...texts.keys()].flatMap((file) => {
    const own = results.filter(({ mutant }) => mutant.file === file);
    const dead = own.filter(({ by }) => by !== undefined).length;
    if (own.length === 0) return [];
    return [`| ${file.slice(4)} | ${own.length} | ${dead} | ${percent(dead, own.length)} |`];
  });
  return [
    "# Mutation testing of `@holdpoint/seal`",
    "",
    `\`${command}\` on Node ${process.versions.node}: ${results.length} of ${all} mutants.`,
    `**${killed.length} killed, ${percent(killed.length, results.length)}.** Of the ${alive.length} that are alive, ${known.length} change nothing that a caller can see; without these it is ${percent(killed.length, results.length - known.length)}.`,
    "",
    `A mutant is one change: an operator, a condition, a literal, a statement or block left out; strings that only word a message are not mutated. Of the killed, ${endless} did not end. ${tests} quick tests come first, and a kill of theirs counts where the test passes on the unchanged source right afterwards. What is alive then is shown to the other tests, slow ones and those that need fresh modules (but to none of times and memory, of other runtimes or of the README), which kill ${late} more.`,
    "",
    "| file | mutants | killed | |",
    "| --- | --- | --- | --- |",
    ...byFile,
    "",
    "## Alive",
    "",
    "| place | change |",
    "| --- | --- |",
    ...open.map((mutant) => rowOf(mutant)),
    "",
    "## Alive, and no other program",
    "",
    "Read by hand, each with its reason (`apps/bench/src/mutation/equivalents.ts`). They count as alive in the first figure.",
    "",
    "| place | change | reason |",
    "| --- | --- | --- |",
    ...known.map((mutant) => rowOf(mutant, [reasonOf(mutant, texts)!])),
    "",
  ].join("\n");
}
