import { once } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';

/** The parts of the driver's connection that COPY uses. */
interface Wire {
  readonly stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** What the driver calls on a query; the messages that COPY never gets do nothing. */
abstract class CopyQuery implements pg.Submittable {
  readonly #text: string;
  readonly #done = Promise.withResolvers<void>();
  /** What the database answered instead. */
  protected problem: Error | undefined;

  constructor(text: string) {
    this.#text = text;
    // The end may be awaited later than the error comes.
    this.#done.promise.catch(() => {});
  }

  /** Resolves when the statement is over. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  submit(connection: unknown): void {
    (connection as Wire).query(this.#text);
  }

  handleError(error: Error): void {
    this.problem ??= error;
    this.failed();
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.problem) return;
    this.#done.resolve();
    this.ended();
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}

  protected failed(): void {}
  protected ended(): void {}
}

/** Rows of one batch, and the batches that wait before the connection is paused. */
const BATCH = 1000;
const BATCH_BYTES = 1_000_000;
const WAITING = 4;

/**
 * `COPY … TO STDOUT`: the lines in batches. The connection is paused while the reader is slower, so
 * that memory has a limit whatever the size of the table.
 */
export class CopyOut extends CopyQuery implements AsyncIterable<readonly string[]> {
  #lines: string[] = [];
  #bytes = 0;
  readonly #batches: (readonly string[])[] = [];
  #over = false;
  #wire: Wire | undefined;
  #wake: (() => void) | undefined;

  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: unknown): void {
    this.#wire = connection as Wire;
    this.#lines.push(chunk.toString('utf8', 0, chunk.length - 1));
    this.#bytes += chunk.length;
    if (this.#lines.length < BATCH && this.#bytes < BATCH_BYTES) return;
    this.#hand();
    if (this.#batches.length >= WAITING) this.#wire.stream.pause();
  }

  #hand(): void {
    if (this.#lines.length > 0) this.#batches.push(this.#lines);
    this.#lines = [];
    this.#bytes = 0;
    this.#wake?.();
  }

  protected override ended(): void {
    this.#over = true;
    this.#hand();
  }

  protected override failed(): void {
    this.#over = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly string[]> {
    try {
      for (;;) {
        const batch = this.#batches.shift();
        if (batch) yield batch;
        else if (this.problem) throw this.problem;
        else if (this.#over) return;
        else await this.#more();
      }
    } finally {
      // A reader that stops early still has to let the rest of the answer through.
      this.#wire?.stream.resume();
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.#wire?.stream.resume();
    await promise;
    this.#wake = undefined;
  }
}

/** `COPY … FROM STDIN`: takes lines with their ends. */
export class CopyIn extends CopyQuery {
  readonly #ready = Promise.withResolvers<Wire>();

  constructor(text: string) {
    super(text);
    this.#ready.promise.catch(() => {});
    this.done.catch((error: unknown) => this.#ready.reject(error));
  }

  handleCopyInResponse(connection: unknown): void {
    this.#ready.resolve(connection as Wire);
  }

  /** Sends lines; waits while the connection is full. @throws the database's refusal, if it has one */
  async send(lines: string): Promise<void> {
    const wire = await this.#ready.promise;
    if (this.problem) throw this.problem;
    wire.sendCopyFromChunk(Buffer.from(lines));
    if (wire.stream.writableNeedDrain)
      await Promise.race([once(wire.stream, 'drain'), once(wire.stream, 'close'), this.done]);
  }

  /** @throws the database's refusal of any of the lines. */
  async end(): Promise<void> {
    (await this.#ready.promise).endCopyFrom();
    await this.done;
  }

  /** Gives up if the database has not done so, and waits until the connection is free again. */
  async abandon(): Promise<void> {
    const wire = await this.#ready.promise.catch(() => undefined);
    if (wire && !this.problem) wire.sendCopyFail('abandoned');
    await this.done.catch(() => {});
  }
}
