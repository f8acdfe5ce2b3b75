import { LARGE_BYTES, LargeText } from '../large-text.ts';

/** A message begins with a byte for its kind and four for its length, which counts themselves. */
const HEADER = 5;
const DATA_ROW = 'D'.charCodeAt(0);

/** In a `DataRow`, two bytes count the columns, and four hold the length of the first one. */
const FIRST_LENGTH = HEADER + 2;
const FIRST_VALUE = FIRST_LENGTH + 4;

/** Receives the first column of a large row. */
export type TakeLargeText = (value: LargeText) => void;

/**
 * Takes large rows out of what PostgreSQL sends on a connection, and passes the rest to the driver.
 * The driver would collect such a row in a buffer that it doubles as the row grows, and decode it to
 * one string, which leaves garbage of several times its size. See "Message Formats" in PostgreSQL's
 * protocol.
 */
export class LargeRows {
  /** Set while a query runs that takes large rows; without it the driver gets them. */
  take: TakeLargeText | undefined;
  readonly #pass: (bytes: Buffer) => void;
  /** The part of a message's header that has arrived. */
  #header: Buffer = Buffer.alloc(0);
  /** Bytes of the current message that have not arrived. */
  #left = 0;
  #row: Buffer[] | undefined;

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass;
  }

  receive(received: Buffer): void {
    const bytes = this.#header.length === 0 ? received : Buffer.concat([this.#header, received]);
    this.#header = bytes.subarray(0, 0);
    let at = 0;
    let passed = 0;
    while (at < bytes.length) {
      if (this.#left === 0) {
        if (!this.#begin(bytes, at)) break;
        if (bytes[at] === DATA_ROW && this.#left > LARGE_BYTES) {
          // The driver first ends the statement before: the row may be the next one's.
          if (passed < at) this.#pass(bytes.subarray(passed, at));
          passed = at;
          if (this.take) this.#row = [];
        }
      }
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      if (this.#row) passed = this.#add(bytes.subarray(at, end)) ?? end;
      at = end;
    }
    if (passed < at) this.#pass(bytes.subarray(passed, at));
  }

  /** Reads the header of a message; false when it is incomplete. */
  #begin(bytes: Buffer, at: number): boolean {
    if (bytes.length - at < HEADER) {
      this.#header = bytes.subarray(at);
      return false;
    }
    this.#left = 1 + bytes.readUInt32BE(at + 1);
    return true;
  }

  #add(piece: Buffer): void {
    this.#row?.push(piece);
    if (this.#left > 0) return;
    const row = this.#row ?? [];
    this.#row = undefined;
    this.take?.(firstValue(row));
  }
}

function firstValue(pieces: readonly Buffer[]): LargeText {
  const row = new LargeText(pieces);
  const length = Buffer.concat(row.slice(FIRST_LENGTH, FIRST_VALUE).pieces).readInt32BE(0);
  return row.slice(FIRST_VALUE, FIRST_VALUE + Math.max(0, length));
}
