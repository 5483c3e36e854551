/** Bounds of everything that grows, each with its reason. */
export const limits = {
  /** Ids are keys of rows in every store; longer ones don't fit the index pages of some. */
  idCharactersMax: 200,
  /** A key may join two ids and a number: a run and its revision. */
  keyCharactersMax: 500,
  /** Names and paths are columns that people filter by. */
  nameCharactersMax: 1_000,
  /** What a person writes beside a decision; longer texts belong to a ticket. */
  noteCharactersMax: 4_000,
  /** Ids and roles that a rule names, and votes that a record keeps: both are read whole at each decision. */
  approversMax: 100,
  quorumMax: 100,
  votesMax: 200,
  /** About 285 years: an expiry stays a safe integer whatever the clock reads. */
  durationMsMax: 9_000_000_000_000,
  /** Entries of one record's trail: filing, votes up to a quorum, late votes and the end stay well below it. */
  trailMax: 500,
  /** One page of a list, of changes or of a history. */
  pageDefault: 50,
  pageMax: 500,
  /** A refused compare-and-set means that somebody else moved the record; past this many the store is at fault. */
  racesMax: 500,
  /** How often a commit whose answer was lost is asked again before the caller is told that it is unknown. */
  unknownRepeatsMax: 5,
  /** How often one person is asked again because their answer can't stand. */
  askedMax: 10,
  /** Edits of edits: each closes one record and opens the next. */
  successorsMax: 32,
  /** Rows changed by one commit. */
  writesMax: 10_000,
  /** Rows taken out at once: each such transaction ends within milliseconds. */
  removedMax: 1_000,
  /** Sealed records that a process knows to be whole, and their longest: four megabytes in all at most. */
  knownRecordsMax: 512,
  knownCharactersMax: 8_192,
} as const;

// Letters, digits and the marks that paths and names of tenants need; no quotes, blanks, controls or wildcards, so that
// an id is the same text in SQL, in a URL, in a log line and in a glob.
const idForm = /^[A-Za-z0-9._~:@#/[\]$+=,-]+$/;

/** Whether a value can be an id: 1 to 200 characters of `A-Z a-z 0-9 . _ ~ : @ # / [ ] $ + = , -`. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.length <= limits.idCharactersMax && idForm.test(value);
}

/** Whether a value can be the key of a row: as an id, up to 500 characters. */
export function isKey(value: unknown): value is string {
  return typeof value === "string" && value.length <= limits.keyCharactersMax && idForm.test(value);
}

/** Whether a value is text that every store keeps as it is: well-formed, without U+0000, 1 to 1,000 characters. */
export function isName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= limits.nameCharactersMax &&
    isStorableText(value)
  );
}

/**
 * Whether every store keeps this text as it is: Postgres refuses U+0000, and encoders replace a surrogate without its pair, so
 * neither may reach a column.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
