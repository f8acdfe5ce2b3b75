import type pg from 'pg';
import { ConfigError } from '../../errors.ts';
import { quotedName, quotedText } from '../tables/quoting.ts';
import type { Wire, WireClass } from './wire.ts';

/** Statements that no transaction may hold, up to the name of what is in the schema. */
const ALONE = /^(create .*? concurrently .*? on |drop index concurrently (?:if exists )?)(?=")/is;

/** The messages that answer a statement of ours. */
const ANSWERS: ReadonlySet<unknown> = new Set(['parseComplete', 'bindComplete', 'commandComplete']);

/** A connection of which each transaction can be told which schema is meant. */
export interface TellingWire extends Wire {
  tells: boolean;
}

/**
 * The connection to a schema. A pooler gives it to another client after each transaction, so that
 * each one begins with the schema: in the same message, which takes no further round trip.
 */
export function wireTo(schema: string, Connection: WireClass): WireClass {
  const path = quotedName(schema);
  // It has no row, which the statement that follows would take for its own.
  const first = `select from (select set_config('search_path', ${quotedText(path)}, true) as told offset 0) as once where told is null`;
  return class extends Connection implements TellingWire {
    tells = false;
    #state: unknown = 'I';
    /** Whether a message to PostgreSQL has begun, and begins with the schema. */
    #begun = false;
    #told = false;
    /** The same of those that are not answered yet. */
    readonly #sent: boolean[] = [];

    override parse(statement: { readonly text: string; readonly name: string }): void {
      if (this.tells && !this.#begun && this.#state === 'I') {
        this.#told = true;
        super.parse({ text: first, name: '' });
        super.bind({ statement: '', values: [] });
        super.execute({});
      }
      this.#begun = true;
      super.parse(statement);
    }

    override sync(): void {
      this.#sent.push(this.#told);
      this.#begun = this.#told = false;
      super.sync();
    }

    override query(text: string): void {
      const isAlone = this.tells && ALONE.test(text);
      const isTold = this.tells && !isAlone && this.#state === 'I';
      this.#sent.push(isTold);
      if (isAlone) super.query(text.replace(ALONE, `$1${path}.`));
      else super.query(isTold ? `set local search_path to ${path}; ${text}` : text);
    }

    override emit(event: string | symbol, ...values: any[]): boolean {
      if (event === 'readyForQuery') {
        this.#state = values[0].status;
        this.#sent.shift();
      } else if (this.#sent[0] && ANSWERS.has(event)) {
        this.#sent[0] = event !== 'commandComplete';
        return true;
      }
      return super.emit(event, ...values);
    }
  };
}

/** Codes of a schema that another server has made at the same moment. */
const IS_THERE: ReadonlySet<unknown> = new Set(['42P06', '23505']);

/** @throws ConfigError when the schema is not there and is not to be made, or may not be. */
export async function makeSchema(
  client: pg.ClientBase,
  schema: string,
  makes: boolean,
): Promise<void> {
  const { rows } = await client.query('select from pg_catalog.pg_namespace where nspname = $1', [
    schema,
  ]);
  if (rows.length > 0) return;
  const make = `create schema ${quotedName(schema)}`;
  const problem = `the database has no schema ${schema}, which DATABASE_URL names: ${make}`;
  if (!makes) throw new ConfigError([problem]);
  await client.query(make).catch((error: { readonly code?: string }) => {
    if (!IS_THERE.has(error.code)) throw new ConfigError([`${problem} (${String(error)})`]);
  });
}
