import { WorkflowError } from "../errors.ts";
import type { Workflow } from "./define.ts";
import { workflowFacts } from "./facts.ts";

/** The definitions of a program, several versions of one name side by side (WF-01). */
export class Definitions {
  readonly #byName = new Map<string, Map<string, Workflow>>();

  /** @throws WorkflowError `definition-invalid` where a name and version stand for two definitions */
  constructor(definitions: readonly Workflow[]) {
    for (const definition of definitions) {
      workflowFacts(definition);
      const { name, version } = definition;
      const versions = this.#byName.get(name) ?? new Map<string, Workflow>();
      if (versions.has(version)) {
        throw new WorkflowError(
          "definition-invalid",
          `two definitions are '${name}' of version ${version}`,
          { definition: name, version },
        );
      }
      this.#byName.set(name, versions.set(version, definition));
    }
  }

  /** Exactly this one. */
  find(name: string, version: string): Workflow | undefined {
    return this.#byName.get(name)?.get(version);
  }

  /**
   * What `start` was asked for: of a name its newest version, of a definition exactly that one.
   * @throws WorkflowError `unknown-definition`
   */
  resolve(what: string | Workflow): Workflow {
    if (typeof what !== "string") {
      const found = this.find(what.name, what.version);
      if (found === what) return found;
      throw unknown(what.name, what.version);
    }
    const [newest] = [...(this.#byName.get(what)?.values() ?? [])].toSorted((a, b) =>
      compareVersions(b.version, a.version),
    );
    if (newest === undefined) throw unknown(what);
    return newest;
  }

  /** @throws WorkflowError `unknown-definition` */
  exactly(name: string, version: string, runId: string): Workflow {
    const found = this.find(name, version);
    if (found === undefined) throw unknown(name, version, runId);
    return found;
  }
}

function unknown(definition: string, version?: string, runId?: string): WorkflowError {
  const which = version === undefined ? `'${definition}'` : `'${definition}' of version ${version}`;
  return new WorkflowError("unknown-definition", `there is no definition ${which} here`, {
    definition,
    ...(version !== undefined && { version }),
    ...(runId !== undefined && { runId }),
  });
}

/**
 * Which of two versions is newer, positive where `a` is. Runs of digits compare as numbers, so `10` comes after `9` and
 * `1.10` after `1.9`; what follows a `-` comes before the version without it, and what follows a `+` does not count unless
 * everything else is equal.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  return (
    compareParts(left.release, right.release) ||
    comparePrereleases(left.prerelease, right.prerelease) ||
    compareTexts(a, b)
  );
}

interface VersionParts {
  readonly release: string;
  readonly prerelease: string;
}

function partsOf(version: string): VersionParts {
  const [bare = ""] = version.split("+", 1);
  const dash = bare.indexOf("-");
  if (dash === -1) return { release: bare, prerelease: "" };
  return { release: bare.slice(0, dash), prerelease: bare.slice(dash + 1) };
}

function comparePrereleases(a: string, b: string): number {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  return compareParts(a, b);
}

function compareParts(a: string, b: string): number {
  const [left, right] = [runsOf(a), runsOf(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [l, r] = [left[at], right[at]];
    if (l === undefined || r === undefined) return left.length - right.length;
    const order = isDigits(l) && isDigits(r) ? compareDigits(l, r) : compareTexts(l, r);
    if (order !== 0) return order;
  }
  return 0;
}

const runsOf = (text: string): readonly string[] => text.match(/\d+|[^\d._-]+/g) ?? [];
const isDigits = (text: string): boolean => /^\d+$/.test(text);

/** Of any length, so a date or a build number is no special case. */
function compareDigits(a: string, b: string): number {
  const difference = BigInt(a) - BigInt(b);
  if (difference === 0n) return 0;
  return difference > 0n ? 1 : -1;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
