/**
 * Which test files run which code: every block of the sources under mutation reports once that it was entered, while all
 * tests run once. A mutant is then shown to those tests alone that enter the block it is in, the quickest of them first.
 */
import { parse, type Node } from "acorn";

/** A block of a source: the places of its braces. */
interface Block {
  readonly start: number;
  readonly end: number;
}

interface Place {
  readonly file: string;
  readonly start: number;
}

/** What one test file entered, as the tests' setup file wrote it down. */
export interface Entered {
  readonly test: string;
  readonly ms: number;
  readonly blocks: readonly string[];
}

const name = (file: string, { start }: Block): string => `${file}:${start}`;

/** The source, telling `globalThis.__entered` of each block that is entered; by no built-in, for tests replace these. */
export function telling(file: string, source: string): string {
  const marks = blocksOf(source).toSorted((a, b) => b.start - a.start);
  return marks.reduce((text, block) => {
    const after = block.start + 1;
    const tell = `if (globalThis.__entered) globalThis.__entered[${JSON.stringify(name(file, block))}] = true;`;
    return text.slice(0, after) + tell + text.slice(after);
  }, source);
}

/** A vitest setup file that keeps what each test file enters in `folder`. */
export function keepingSetup(folder: string): string {
  return `
    import { afterAll, expect } from "vitest";
    import { writeFileSync } from "node:fs";
    import { basename } from "node:path";
    const entered = (globalThis.__entered = Object.create(null));
    const began = performance.now();
    afterAll(() => {
      const test = expect.getState().testPath;
      const kept = { test, ms: performance.now() - began, blocks: Object.keys(entered) };
      writeFileSync(${JSON.stringify(folder)} + "/" + basename(test) + "-" + Math.trunc(began) + ".json", JSON.stringify(kept));
    });`;
}

/** The innermost block around a place of a source, as it is told; undefined where there is none. */
export function blockAround({ file, start }: Place, source: string): string | undefined {
  const around = blocksOf(source).filter((block) => block.start <= start && start < block.end);
  const inner = around.toSorted((a, b) => b.start - a.start)[0];
  return inner && name(file, inner);
}

/** The test files that enter the innermost block around a place, the quickest first; all of them where no block is around it. */
export function touching(
  place: Place,
  source: string,
  kept: readonly Entered[],
): readonly string[] {
  const wanted = blockAround(place, source);
  return kept
    .filter(({ blocks }) => wanted === undefined || blocks.includes(wanted))
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ test }) => test);
}

/** Bodies in braces that hold statements. What an arrow without braces holds belongs to the block around it. */
function blocksOf(source: string): readonly Block[] {
  const found: Block[] = [];
  const visit = (node: Node): void => {
    if (node.type === "BlockStatement") found.push({ start: node.start, end: node.end });
    for (const part of Object.values(node)) {
      for (const child of Array.isArray(part) ? (part as unknown[]) : [part]) {
        if (isNode(child)) visit(child);
      }
    }
  };
  visit(parse(source, { ecmaVersion: "latest", sourceType: "module" }));
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
