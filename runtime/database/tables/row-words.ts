import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Doing, Finding } from './migration-run.ts';

/** The text about rows at risk, and what it is made from. */
export interface Risk extends Pick<Finding, 'code' | 'does' | 'atRisk' | 'keys'> {
  /** Names of the types. */
  readonly change?: { readonly from: string; readonly to: string };
}

interface DescribedRows {
  readonly db: Kysely<any>;
  readonly table: string;
  readonly rows: RawBuilder<unknown>;
  readonly column: { readonly name: string; readonly references?: string };
}

/** Adds the total number of rows, and a sentence about them. */
export async function describeRows(
  { db, table, rows: source, column }: DescribedRows,
  { change, ...risk }: Risk,
): Promise<Finding> {
  const object = `${table}.${column.name}`;
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from ${source}`.execute(db);
  const total = Number(rows[0]!.count);
  const some = `${risk.atRisk} of ${total} row${total === 1 ? '' : 's'} of ${table}`;
  const said = { object, some, change, risk, related: column.references !== undefined };
  return { ...risk, object, rows: total, ...WORDS[risk.does](said) };
}

interface RiskFacts {
  readonly object: string;
  readonly some: string;
  readonly change: Risk['change'];
  readonly risk: Risk;
  /** Whether the column is a relation, which has no `@default`. */
  readonly related: boolean;
}

const WORDS: Readonly<Record<Doing, (said: RiskFacts) => { what: string; fix: string }>> = {
  add: ({ object, some, related }) => ({
    what: `${object} is new and required, and ${some} would have no value for it`,
    fix: related
      ? 'take "!" away, give the rows a value once the column is there, and put "!" back'
      : 'give the field a @default, whose value fills them, or take "!" away',
  }),
  require: ({ object, some, related }) => ({
    what: `${object} is to be required, and ${some} have no value for it`,
    fix: `${related ? '' : 'give the field a @default, whose value fills them, or '}give those rows a value, or take "!" away`,
  }),
  drop: ({ object, some }) => ({
    what: `${object} is dropped, and ${some} have a value that is lost`,
    fix: `to keep the values, take the field back; --allow-drop ${object} on generate is the word that drops them`,
  }),
  unique: ({ object, some }) => ({
    what: `${object} is to be unique, and ${some} repeat a value`,
    fix: 'give each of these rows a value of its own; or take @unique back, where the schema says it',
  }),
  check: ({ object, some }) => ({
    what: `${object} allows less than before, and ${some} have a value outside`,
    fix: 'change them, or allow their values again',
  }),
  reference: ({ object, some }) => ({
    what: `${object} is to refer to rows of another table, and ${some} lead nowhere`,
    fix: 'change or empty them, or take the relation back',
  }),
  type: ({ object, some, change, risk }) =>
    risk.code === 'MIGRATION_NEEDS_CONSENT'
      ? {
          what: `${object} turns from ${change!.from} to ${change!.to}, and ${some} would lose part of their value`,
          fix: `--allow-loss ${object} ${change!.to === 'date' ? 'cuts the time of day' : 'rounds them'}; or take the type back`,
        }
      : {
          what: `${object} turns from ${change!.from} to ${change!.to}, and ${some} have a value that is none`,
          fix: 'change or empty them, or take the type back; to keep both, add a field of another name',
        },
};
