import type pg from 'pg';
import { type Asker, unwanted } from '../bounds.ts';
import type { Abandoned } from './abandoned.ts';
import { createQuickStatements, QUICK } from './long-statements.ts';
import type { StatementNames } from './statement-names.ts';
import { type Settle, ValueQuery, type Wire } from './value-query.ts';

/** A short statement that only reads, and may share its connection with those of other requests. */
export interface SharedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly asker: Asker | undefined;
  readonly large?: boolean | undefined;
  readonly settle: Settle;
  /** Runs it on a connection of its own, in place of `settle`. */
  alone(): void;
}

/**
 * Connections on which statements of many requests follow each other without waiting for answers:
 * the way there and back is paid once for all of them, and one connection does the work of many.
 */
export interface Pipelines {
  /**
   * @returns false when the statement needs a connection of its own: it was not quick the last time,
   * or has not run yet, and others would wait behind it.
   */
  send(statement: SharedStatement): boolean;
  /** Notes how long the database took for a statement. */
  took(text: string, milliseconds: number): void;
}

interface Parts {
  readonly pool: pg.Pool;
  readonly names: StatementNames;
  readonly abandoned: Abandoned;
  /** Whether a connection is not to be used again. */
  readonly isSpent: (client: pg.PoolClient) => boolean;
}

/** Statements on one connection from which on a second one is used. */
const MANY = 8;

/** @param most connections at a time. Each goes back to the pool when it has no statement left. */
export function createPipelines(parts: Parts, most: number): Pipelines {
  const lines = new Set<Line>();
  const { has, took } = createQuickStatements();
  const lineFor = () => {
    const moving = [...lines].filter(({ isStuck }) => !isStuck);
    const [least] = moving.toSorted((one, other) => one.size - other.size);
    if (lines.size === most || (least && least.size < MANY)) return least;
    const line = new Line(parts, { took, left: () => lines.delete(line) });
    lines.add(line);
    return line;
  };
  return {
    send: (statement) => {
      const line = has(statement.text) ? lineFor() : undefined;
      line?.send(statement);
      return line !== undefined;
    },
    took,
  };
}

interface Told extends Pick<Pipelines, 'took'> {
  /** Told when the connection has gone back to the pool. */
  left(): void;
}

/** One connection of the pool, and its statements in the order in which they are answered. */
class Line {
  readonly #parts: Parts;
  readonly #told: Told;
  #taken: { client: pg.PoolClient; release(destroy?: boolean): void } | undefined;
  /** Statements that wait for the connection. */
  #waiting: SharedStatement[] = [];
  /** Statements that were sent. The driver has the first one, and gets the next when it is answered. */
  #sent: ValueQuery[] = [];
  #since = 0;
  #corked = false;

  constructor(parts: Parts, told: Told) {
    this.#parts = parts;
    this.#told = told;
    parts.pool.connect((refused, client, release) => {
      const waiting = this.#waiting;
      this.#waiting = [];
      if (client) this.#taken = { client, release };
      else told.left();
      for (const statement of waiting)
        if (client) this.send(statement);
        else statement.settle(refused, null);
      if (client && this.#sent.length === 0) this.#leave(false);
    });
  }

  get size(): number {
    return this.#waiting.length + this.#sent.length;
  }

  /** Whether others would wait behind a statement that takes long. */
  get isStuck(): boolean {
    return this.#sent.length > 0 && performance.now() - this.#since > QUICK;
  }

  send(statement: SharedStatement): void {
    if (statement.asker?.cancelled) return statement.settle(unwanted(), null);
    if (!this.#taken) return void this.#waiting.push(statement);
    const { client } = this.#taken;
    const query = this.#queryOn(client, statement);
    if (this.#sent.push(query) === 1) client.query(query);
    else this.#write(client, query);
  }

  #queryOn(client: pg.PoolClient, statement: SharedStatement): ValueQuery {
    const { text, values, asker, large } = statement;
    const { names, abandoned } = this.#parts;
    let running: ReturnType<Abandoned['began']>;
    const begin = () => {
      this.#since = performance.now();
      running = abandoned.began(client, asker);
    };
    const named = { name: names.nameOn(client, text), text, large, begin };
    return new ValueQuery(named, values, (error, value) => {
      abandoned.ended(running);
      this.#told.took(text, performance.now() - this.#since);
      this.#next(error);
      if (isCancelled(error) && abandoned.isTold(client) && !asker?.cancelled) statement.alone();
      else statement.settle(error, value);
    });
  }

  /** What is sent during one turn of the event loop goes out at once. */
  #write(client: pg.PoolClient, query: ValueQuery): void {
    const { connection } = client as unknown as { readonly connection: Wire };
    if (!this.#corked) {
      this.#corked = true;
      connection.stream.cork();
      setImmediate(() => {
        this.#corked = false;
        connection.stream.uncork();
      });
    }
    query.write(connection);
  }

  #next(error: Error | undefined): void {
    this.#sent.shift();
    if (error && isBroken(error)) return this.#fail(error);
    const [query] = this.#sent;
    if (query) this.#taken?.client.query(query);
    else this.#leave(false);
  }

  /** A connection that is lost answers nothing of what was sent. */
  #fail(error: Error): void {
    const lost = this.#sent;
    this.#sent = [];
    this.#leave(true);
    for (const query of lost) query.handleError(error);
  }

  #leave(broken: boolean): void {
    if (!this.#taken) return;
    const { client, release } = this.#taken;
    this.#taken = undefined;
    this.#told.left();
    release(broken || this.#parts.isSpent(client));
  }
}

/** A request to cancel a statement may arrive when the next one runs. */
const isCancelled = (error: unknown) => (error as { code?: string } | undefined)?.code === '57014';

/** An error that the database reports leaves the connection usable; any other one does not. */
export const isBroken = (error: unknown): boolean =>
  (error as { severity?: string }).severity !== 'ERROR';
