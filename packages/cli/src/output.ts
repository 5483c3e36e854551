/**
 * Where a command says what it found: lines for a person, or one JSON document for a machine.
 *
 * O1 With `--json` exactly one document goes to standard output, whatever happened; what went wrong is in it too.
 * O2 Both are of the same facts: a command hands over data, and how a person reads it.
 */
import { plainLines } from "./plain-text.ts";

export interface Channels {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export class Output {
  readonly json: boolean;
  readonly #channels: Channels;

  constructor(channels: Channels, json: boolean) {
    this.#channels = channels;
    this.json = json;
  }

  /** `document` for machines, `lines` for people. */
  say(document: unknown, lines: () => readonly string[]): void {
    const text = this.json ? [JSON.stringify(document, undefined, 2)] : lines();
    for (const line of text) this.#channels.out(`${line}\n`);
  }

  /** A text as it is, such as an export. */
  raw(text: string): void {
    this.#channels.out(text.endsWith("\n") ? text : `${text}\n`);
  }

  fault(code: string, message: string): void {
    if (this.json)
      this.#channels.out(`${JSON.stringify({ error: { code, message } }, undefined, 2)}\n`);
    else for (const line of plainLines(message)) this.#channels.err(`${line}\n`);
  }
}
