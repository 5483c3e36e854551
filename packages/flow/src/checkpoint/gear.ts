/**
 * A hash of the 32 characters at a place of a text, moved on by one character with a shift and an addition: a gear hash, as
 * content-defined chunking has it (Xia et al., "FastCDC", USENIX ATC 2016). What a character added has left a word of 32 bits
 * after so many shifts, so nothing has to be taken out.
 *
 * It looks at each character's low byte alone. So different blocks may hash alike, and whoever finds a block compares it.
 */

/** How many characters a hash covers: one for each bit of it. */
export const hashChars = 32;

/** A place is marked where the bits of its hash above these are zero, which one in 64 is: all of the block's characters have a
 * part in them … */
const unmarkedBits = 26;
/** … and where so many of its own place's bits are, every 512 characters, for texts whose hashes never do. */
const placeMask = 0x1ff;

/** Room for texts up to this length is kept, since one is looked through at a time. */
const keptRoom = 1 << 16;

/** What a byte adds: words that follow from nothing, by xorshift (Marsaglia, 2003). */
const gear = new Int32Array(256);
for (let at = 0, word = 0x9e3779b9 | 0; at < gear.length; at += 1) {
  word ^= word << 13;
  word ^= word >>> 17;
  word ^= word << 5;
  gear[at] = word;
}

/** The low bytes of a text's characters: `latin1Write` of Node's buffers, where there are any, is as quick as a copy. */
interface Room extends Uint8Array {
  latin1Write?(text: string, at: number): number;
}

const { Buffer: bufferClass } = globalThis as {
  Buffer?: { allocUnsafeSlow(length: number): Room };
};
const roomOf = (length: number): Room =>
  bufferClass?.allocUnsafeSlow(length) ?? new Uint8Array(length);
let kept: Room | undefined;

/** A text's low bytes, which stand until the next text's are asked for; there may be others behind them. */
function lowBytesOf(text: string): Uint8Array {
  const { length } = text;
  const room = length > keptRoom ? roomOf(length) : (kept ??= roomOf(keptRoom));
  if (room.latin1Write === undefined)
    for (let at = 0; at < length; at += 1) room[at] = text.charCodeAt(at);
  else room.latin1Write(text, 0);
  return room;
}

/** A text's marked places, one after another, by which the same block is found wherever it stands. */
export class Marks {
  /** The place that was found last, and the hash of the block that begins there. */
  place = Number.NEGATIVE_INFINITY;
  hash = 0;
  readonly #bytes: Uint8Array;
  /** Where the last block begins. */
  readonly #last: number;

  constructor(text: string) {
    this.#bytes = lowBytesOf(text);
    this.#last = text.length - hashChars;
  }

  /** Goes to the first marked place from another on; `false`: there is none. */
  find(from: number): boolean {
    const [bytes, last, words] = [this.#bytes, this.#last, gear];
    if (from > last) return false;
    const next = from === this.place + 1;
    let hash = next ? this.hash : 0;
    for (let at = next ? from + hashChars - 1 : from; at < from + hashChars; at += 1)
      hash = ((hash << 1) + words[bytes[at]!]!) | 0;
    let at = from;
    while (hash >>> unmarkedBits !== 0 && (at & placeMask) !== 0) {
      if (at === last) return false;
      hash = ((hash << 1) + words[bytes[at + hashChars]!]!) | 0;
      at += 1;
    }
    this.place = at;
    this.hash = hash;
    return true;
  }
}
