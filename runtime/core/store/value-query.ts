import type pg from 'pg';

/** The parts of the driver's connection that a query uses, like the queries of other packages. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Readonly<Record<string, string>>;
  /** Named statements that were sent and not yet confirmed. */
  readonly submittedNamedStatements?: Record<string, string>;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(parameters: { readonly statement: string; readonly values: readonly unknown[] }): void;
  execute(portal: object): void;
  sync(): void;
}

/** A statement, with the name under which the connection keeps it, if any. */
export interface Named {
  readonly name: string | undefined;
  readonly text: string;
}

type Settle = (error: Error | undefined, value: string | null) => void;

/**
 * A statement that returns the first column of its first row as text. The driver's own query
 * requests a description of the columns, looks up a parser for each and makes an object of every
 * row, which is more work than the query itself. See "Extended Query" in PostgreSQL's protocol.
 *
 * @example client.query(new ValueQuery({ name: 'one', text: 'select $1::text' }, ['a'], (error, value) => …))
 */
export class ValueQuery implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly #values: readonly unknown[];
  #settle: Settle | undefined;
  #value: string | null = null;
  #rows = 0;

  /** @param values as the driver sends them: text, bytes or null. */
  constructor({ name, text }: Named, values: readonly unknown[], settle: Settle) {
    this.name = name ?? '';
    this.text = text;
    this.#values = values;
    this.#settle = settle;
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    const { name, text } = this;
    wire.stream.cork();
    if (!this.#isKnown(wire)) {
      wire.parse({ text, name });
      if (name && wire.submittedNamedStatements) wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values: this.#values });
    wire.execute({});
    wire.sync();
    wire.stream.uncork();
  }

  #isKnown({ parsedStatements, submittedNamedStatements }: Wire): boolean {
    return (
      this.name !== '' &&
      (parsedStatements[this.name] !== undefined ||
        submittedNamedStatements?.[this.name] !== undefined)
    );
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#rows === 0) this.#value = fields[0] ?? null;
    this.#rows += 1;
  }

  handleCommandComplete(): void {}

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
    settle?.(error, this.#value);
  }
}
