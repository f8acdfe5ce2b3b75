import type pg from 'pg';

/** What of the driver's connection a query speaks to: it is the same for all the queries that other packages bring. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Readonly<Record<string, string>>;
  /** Of statements that are on their way. */
  readonly submittedNamedStatements?: Record<string, string>;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(parameters: { readonly statement: string; readonly values: readonly unknown[] }): void;
  execute(portal: object): void;
  sync(): void;
}

/** Which statement, under the name that the connection is to keep it by, if any. */
export interface Named {
  readonly name: string | undefined;
  readonly text: string;
}

type Settle = (error: Error | undefined, value: string | null) => void;

/**
 * One statement whose answer is the first column of its first row, as PostgreSQL writes it. The driver's own query has the
 * columns described, looks for a parser for each of them and makes an object of every row: for one text that is more work
 * than asking for it. See "Extended Query" in the chapter on PostgreSQL's protocol.
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

  /** @param values as the driver sends them: texts, bytes or null. */
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

  /** Once: a connection that breaks tells everybody who waits for it. */
  #end(error: Error | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(error, this.#value);
  }
}
