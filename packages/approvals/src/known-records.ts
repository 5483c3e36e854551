/**
 * Sealed records that this process made or verified a moment ago: the very same text need not be verified again under the same keyring.
 * From a decision to the end of its run one record is read by everybody who has a part in it.
 *
 * R1 What is known goes by the whole text: one character less, and it is another text. Where it stands, and what its columns
 *    say, is compared at each reading (K1 and K2 of `record-codec.ts`).
 * R2 Nobody changes what is read: it is frozen to the ground.
 * R3 Few are known, and no long ones: what was not read for longest goes first.
 */

import type { Header, Keyring } from "@holdpoint/seal";

import { limits } from "./limits.ts";

/** What a text says. */
export interface KnownRecord {
  readonly header: Header;
  /** The text under the seal. */
  readonly text: string;
  /** What stands in it, once it was decoded. */
  body: unknown;
}

export class KnownRecords {
  readonly #known = new Map<string, KnownRecord>();

  of(sealed: string): KnownRecord | undefined {
    const known = this.#known.get(sealed);
    if (known === undefined) return undefined;
    this.#known.delete(sealed); // R3: what is read again is the youngest
    this.#known.set(sealed, known);
    return known;
  }

  keep(sealed: string, record: KnownRecord): void {
    if (sealed.length > limits.knownCharactersMax) return;
    this.#known.set(sealed, record);
    if (this.#known.size <= limits.knownRecordsMax) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest); // R3
      return;
    }
  }
}

const byKeyring = new WeakMap<Keyring, KnownRecords>();

/** What is known under a keyring, by whichever port: a keyring in use never changes. */
export function knownUnder(keyring: Keyring): KnownRecords {
  let known = byKeyring.get(keyring);
  if (known === undefined) byKeyring.set(keyring, (known = new KnownRecords()));
  return known;
}

/** A decoded value, with everything in it frozen (R2). */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
