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

/**
 * The methods that the driver calls on a query. Those for messages that COPY never gets do nothing.
 */
abstract class CopyQuery implements pg.Submittable {
  readonly #text: string;
  readonly #done = Promise.withResolvers<void>();
  /** The database's error in place of an answer. */
  protected problem: Error | undefined;

  constructor(text: string) {
    this.#text = text;
    // The error may come before the end is awaited, so it is handled here as well.
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

/** How many rows a batch has, and how many batches may wait before the connection is paused. */
const BATCH = 1000;
const BATCH_BYTES = 1_000_000;
const WAITING = 4;

/**
 * `COPY … TO STDOUT` in batches. The connection is paused while the reader is slower, so that memory
 * has a limit whatever the size of the table.
 */
abstract class CopyBatches<Batch> extends CopyQuery implements AsyncIterable<Batch> {
  readonly #batches: Batch[] = [];
  #over = false;
  #wire: Wire | undefined;
  #wake: (() => void) | undefined;

  handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: unknown): void {
    this.#wire = connection as Wire;
    const batch = this.take(chunk);
    if (batch === undefined) return;
    this.#hand(batch);
    if (this.#batches.length >= WAITING) this.#wire.stream.pause();
  }

  /** Takes a row. The driver uses its memory again. @returns a batch that is full */
  protected abstract take(chunk: Buffer): Batch | undefined;
  /** The rows that are left when the statement has ended. */
  protected abstract rest(): Batch | undefined;

  #hand(batch: Batch | undefined): void {
    if (batch !== undefined) this.#batches.push(batch);
    this.#wake?.();
  }

  protected override ended(): void {
    this.#over = true;
    this.#hand(this.rest());
  }

  protected override failed(): void {
    this.#over = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch> {
    try {
      for (;;) {
        const batch = this.#batches.shift();
        if (batch) yield batch;
        else if (this.problem) throw this.problem;
        else if (this.#over) return;
        else await this.#more();
      }
    } finally {
      // The reader has stopped early, but the rest of the answer must still be read.
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

/** The lines, without their ends. */
export class CopyOut extends CopyBatches<readonly string[]> {
  #lines: string[] = [];
  #bytes = 0;

  protected override take(chunk: Buffer): readonly string[] | undefined {
    this.#lines.push(chunk.toString('utf8', 0, chunk.length - 1));
    this.#bytes += chunk.length;
    return this.#lines.length < BATCH && this.#bytes < BATCH_BYTES ? undefined : this.rest();
  }

  protected override rest(): readonly string[] | undefined {
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return lines.length > 0 ? lines : undefined;
  }
}

/** Lines as PostgreSQL wrote them, with their ends, and how many they are. */
export interface CopiedLines {
  readonly bytes: Buffer;
  readonly rows: number;
}

/**
 * The size of one batch in bytes. Batches are large, so that there are few, but small compared with
 * the memory.
 */
const RAW_BYTES = 256 * 1024;

/** Reads lines as they are, for another PostgreSQL. */
export class CopyOutRaw extends CopyBatches<CopiedLines> {
  #bytes = Buffer.allocUnsafe(RAW_BYTES);
  #used = 0;
  #rows = 0;

  protected override take(chunk: Buffer): CopiedLines | undefined {
    const full = this.#used + chunk.length > this.#bytes.length ? this.rest() : undefined;
    if (chunk.length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(chunk.length);
    chunk.copy(this.#bytes, this.#used);
    this.#used += chunk.length;
    this.#rows += 1;
    return full;
  }

  protected override rest(): CopiedLines | undefined {
    if (this.#used === 0) return undefined;
    const lines = { bytes: this.#bytes.subarray(0, this.#used), rows: this.#rows };
    this.#bytes = Buffer.allocUnsafe(RAW_BYTES);
    this.#used = 0;
    this.#rows = 0;
    return lines;
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

  /**
   * Sends lines; waits while the connection is full. @throws the database's refusal, if it has one
   */
  async send(lines: string | Buffer): Promise<void> {
    const wire = await this.#ready.promise;
    if (this.problem) throw this.problem;
    wire.sendCopyFromChunk(typeof lines === 'string' ? Buffer.from(lines) : lines);
    if (wire.stream.writableNeedDrain) await this.#drained(wire.stream);
  }

  async #drained(stream: Socket): Promise<void> {
    const over = new AbortController();
    const next = (event: string) => once(stream, event, { signal: over.signal }).catch(() => {});
    try {
      await Promise.race([next('drain'), next('close'), this.done]);
    } finally {
      over.abort();
    }
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
