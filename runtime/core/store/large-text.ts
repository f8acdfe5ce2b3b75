/** JSON of an answer: a large one stays in the bytes in which the database sent it. */
export type JsonText = string | LargeText;

/** Bytes from which a text is large. */
export const LARGE_BYTES = 256 * 1024;

/**
 * A text of many megabytes as pieces of UTF-8. It is sent without being decoded: as a string it would
 * be copied several times, and collecting these copies stops the event loop for a tenth of a second.
 * Where a string is needed, `String(text)` decodes it.
 */
export class LargeText {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
    this.bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Whether the text contains `part`, which may begin in one piece and end in another. */
  includes(part: string): boolean {
    const wanted = Buffer.from(part);
    const overlap = wanted.length - 1;
    let before: Buffer = Buffer.alloc(0);
    for (const piece of this.pieces) {
      const seam = Buffer.concat([before, piece.subarray(0, overlap)]);
      if (seam.includes(wanted) || asBuffer(piece).includes(wanted)) return true;
      const end = Buffer.concat([before, piece.subarray(-overlap)]);
      before = end.subarray(-overlap);
    }
    return false;
  }

  /** The bytes between two offsets, as `String.slice`, without copying them. */
  slice(from: number, to: number): LargeText {
    const end = to < 0 ? this.bytes + to : to;
    let offset = 0;
    const pieces = this.pieces.map((piece) => {
      const part = piece.subarray(Math.max(0, from - offset), Math.max(0, end - offset));
      offset += piece.byteLength;
      return part;
    });
    return new LargeText(pieces.filter(({ byteLength }) => byteLength > 0));
  }

  /**
   * Gives the memory back at once: the garbage collector would let many large answers pile up first.
   * The text is empty then. Small pieces may share their memory with others and stay.
   */
  free(): void {
    for (const { buffer } of this.pieces)
      if (buffer instanceof ArrayBuffer && buffer.byteLength >= LARGE_BYTES) buffer.transfer(0);
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * Whether a text has more bytes than `limit`. A UTF-16 unit takes at most three bytes in UTF-8, so
 * most strings need no counting.
 */
export function hasMoreBytes(text: JsonText, limit: number): boolean {
  if (typeof text !== 'string') return text.bytes > limit;
  return text.length * 3 > limit && Buffer.byteLength(text) > limit;
}

/**
 * Joins texts. The result is a `LargeText` if one of them is.
 *
 * @example joinTexts(['[', '1', ']']) // '[1]'
 */
export function joinTexts(texts: readonly JsonText[]): JsonText {
  if (texts.every((text) => typeof text === 'string')) return texts.join('');
  return new LargeText(
    texts.flatMap((text) => (typeof text === 'string' ? [Buffer.from(text)] : text.pieces)),
  );
}
