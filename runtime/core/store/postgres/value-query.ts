import type pg from 'pg';
import type { LargeRows } from './large-rows.ts';
import type { JsonText } from '../large-text.ts';

/** The parts of the driver's connection that a query uses, like the queries of other packages. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** Present on the connections of the store, see `wireClass`. */
  readonly largeRows?: LargeRows;
  readonly parsedStatements: Readonly<Record<string, string>>;
  /** Named statements that were sent and not yet confirmed. */
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(parameters: { readonly statement: string; readonly values: readonly unknown[] }): void;
  execute(portal: object): void;
  sync(): void;
}

/** A statement, with the name under which the connection keeps it, if any. */
export interface Named {
  readonly name: string | undefined;
  readonly text: string;
  /** Whether a large value is returned as `LargeText`. */
  readonly large?: boolean | undefined;
  /** Whether JIT is switched off for this statement alone, in its own transaction. */
  readonly withoutJit?: boolean | undefined;
  /** Called when the statement is the next to be answered. */
  readonly begin?: (() => void) | undefined;
}

const WITHOUT_JIT = `select set_config('jit', 'off', true)`;

export type Settle = (error: Error | undefined, value: JsonText | null) => void;

/**
 * A statement that returns the first column of its first row as text. The driver's own query
 * requests a description of the columns, looks up a parser for each and makes an object of every
 * row, which is more work than the query itself. A large value stays in bytes. See "Extended Query"
 * in PostgreSQL's protocol.
 *
 * @example client.query(new ValueQuery({ name: 'one', text: 'select $1::text' }, ['a'], (error, value) => …))
 */
export class ValueQuery implements pg.Submittable {
  name: string;
  readonly text: string;
  readonly #begin: (() => void) | undefined;
  readonly #values: readonly unknown[];
  readonly #takesLarge: boolean;
  /** Whether the results that come next are those of `WITHOUT_JIT`. */
  #before: boolean;
  #isWritten = false;
  #settle: Settle | undefined;
  #value: JsonText | null = null;
  #rows = 0;
  #large: LargeRows | undefined;

  /** @param values as the driver sends them: text, bytes or null. */
  constructor(
    { name, text, large, withoutJit, begin }: Named,
    values: readonly unknown[],
    settle: Settle,
  ) {
    this.name = name ?? '';
    this.text = text;
    this.#begin = begin;
    this.#takesLarge = large ?? false;
    this.#before = withoutJit ?? false;
    this.#values = values;
    this.#settle = settle;
  }

  /** Called by the driver when the statements before it are answered. */
  submit(connection: unknown): void {
    const wire = connection as Wire;
    this.#begin?.();
    if (this.#takesLarge && wire.largeRows) this.#takeFrom(wire.largeRows);
    if (!this.#isWritten) this.write(wire);
  }

  /** Sends the statement, at once or while others before it are not answered yet. */
  write(wire: Wire): void {
    const { text } = this;
    this.#isWritten = true;
    wire.stream.cork();
    if (this.#before) {
      // Up to the next sync, all statements are one transaction.
      wire.parse({ text: WITHOUT_JIT, name: '' });
      wire.bind({ statement: '', values: [] });
      wire.execute({});
    }
    const isKnown = this.name !== '' && wire.parsedStatements[this.name] !== undefined;
    // A name that was sent and is not confirmed may fail: this statement then does without.
    if (!isKnown && wire.submittedNamedStatements[this.name] !== undefined) this.name = '';
    if (!isKnown) wire.parse({ text, name: this.name });
    if (!isKnown && this.name) wire.submittedNamedStatements[this.name] = text;
    wire.bind({ statement: this.name, values: this.#values });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
  }

  #takeFrom(rows: LargeRows): void {
    this.#large = rows;
    rows.take = (value) => {
      if (this.#rows === 0) this.#value = value;
      this.#rows += 1;
    };
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#before) return;
    if (this.#rows === 0) this.#value = fields[0] ?? null;
    this.#rows += 1;
  }

  handleCommandComplete(): void {
    this.#before = false;
  }

  handleReadyForQuery(): void {
    this.#end(undefined);
  }

  handleError(error: Error): void {
    this.#end(error);
  }

  /** Settles only once: a broken connection reports its error to every query that waits. */
  #end(error: Error | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (this.#large) this.#large.take = undefined;
    settle?.(error, this.#value);
  }
}
