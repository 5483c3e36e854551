const columnsMax = 80;
const indent = "  ";

/** Where the desk prints to: a terminal, or a pipe, which gets neither colours nor anything drawn over. */
export class Screen {
  readonly live: boolean;
  readonly #coloured: boolean;
  readonly #write: (text: string) => void;
  #drawn = false;

  constructor(how: {
    readonly write: (text: string) => void;
    /** A terminal, where a line can be drawn over. */
    readonly live: boolean;
    readonly coloured: boolean;
  }) {
    this.#write = how.write;
    this.live = how.live;
    this.#coloured = how.coloured;
  }

  line(text = ""): void {
    this.keep();
    this.#write(`${text}\n`);
  }

  /** The beginning of a part. */
  heading(text: string): void {
    this.line();
    this.line(this.bold(text));
  }

  /** What somebody or something said, word for word, on lines that fit any terminal. */
  quote(text: string): void {
    for (const line of wrapped(`"${text}"`, columnsMax - indent.length)) {
      this.line(`${indent}${this.dim(line)}`);
    }
  }

  /** Draws the last line anew. */
  draw(text: string): void {
    this.#write(`\r\u001B[K${text}`);
    this.#drawn = true;
  }

  /** Leaves what was drawn, and goes to the next line. */
  keep(): void {
    if (this.#drawn) this.#write("\n");
    this.#drawn = false;
  }

  bold(text: string): string {
    return this.#painted(1, text);
  }

  dim(text: string): string {
    return this.#painted(2, text);
  }

  green(text: string): string {
    return this.#painted(32, text);
  }

  red(text: string): string {
    return this.#painted(31, text);
  }

  #painted(code: number, text: string): string {
    return this.#coloured ? `\u001B[${code}m${text}\u001B[0m` : text;
  }
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += `${line === "" ? "" : " "}${word}`;
  }
  return [...lines, line];
}
