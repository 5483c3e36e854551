import { compareIds, isId } from "./id.ts";

/** One requirement: what it says in a sentence, and whether the project claims to meet it. */
export interface SpecEntry {
  readonly says: string;
  readonly state: "planned" | "done";
}

/** Every requirement by id, in order. */
export type IdBook = ReadonlyMap<string, SpecEntry>;

/**
 * Reads the text of an `ids.json`.
 *
 * @throws Error that names every mistake at once: a wrong id, an entry of another shape, a wrong order.
 */
export function readIdBook(text: string, name: string): IdBook {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error(`${name}: an object of ids is due`);
  const book = new Map<string, SpecEntry>();
  const mistakes: string[] = [];
  let before: string | undefined;
  for (const [id, entry] of Object.entries(value)) {
    if (!isId(id)) mistakes.push(`"${id}" is not spelled like an id`);
    else if (!isEntry(entry))
      mistakes.push(`${id}: { "says", "state": "planned" | "done" } is due`);
    else book.set(id, entry);
    if (before !== undefined && compareIds(before, id) >= 0) {
      mistakes.push(`${id} stands after ${before}: ids are sorted by family and number`);
    }
    before = id;
  }
  if (mistakes.length > 0) throw new Error(`${name}:\n  ${mistakes.join("\n  ")}`);
  return book;
}

function isEntry(value: unknown): value is SpecEntry {
  if (!isRecord(value) || Object.keys(value).length !== 2) return false;
  const { says, state } = value;
  return (
    typeof says === "string" && says.trim() !== "" && (state === "planned" || state === "done")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
