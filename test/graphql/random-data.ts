import { type Kysely, sql } from 'kysely';
import { buildTables, type Column, type Field, type Project } from '@twofold/schema';
import type { Store } from '../../runtime/core/store/store.ts';
import type { Random } from './random-schema.ts';

export type Row = Record<string, any>;
export interface Data {
  /** Rows by entity, with the values the database gives back, `id` first, and the name of their type. */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly joins: ReadonlyMap<string, readonly Row[]>;
}

const WORDS = ['ant', 'ape', 'bat', 'bee', 'cat', 'cow', 'dog', 'eel', 'elk', 'fox', 'hen', 'owl'];

export function randomValue(random: Random, scalar: string): unknown {
  switch (scalar) {
    case 'ID':
      return String(1 + random.below(9));
    case 'Int':
      return random.below(6) - 2;
    case 'Float':
      return random.pick([0.1, 1 / 3, -2.5, 1e21, 4, 123456.789]);
    case 'Boolean':
      return random.chance(0.5);
    case 'DateTime':
      return `2026-0${1 + random.below(3)}-11T09:0${random.below(4)}:00.${random.pick(['000', '120', '007'])}Z`;
    case 'Date':
      return `2026-02-0${1 + random.below(5)}`;
    case 'Mood':
      return random.pick(['CALM', 'WILD']);
    case 'BigInt':
      return random.pick(['7', '-9007199254740993', '42', '9223372036854775807']);
    case 'Decimal':
      return random.pick(['1.50', '10.25', '-3', '9.99', '100']);
    default:
      return random.pick(WORDS) + random.pick(['', '', random.pick(WORDS)]);
  }
}

/**
 * Fills the full-text indexes of PostgreSQL from the tables. Random worlds are stored without
 * triggers, because their rows refer to each other in circles, and without triggers nothing would be
 * found.
 */
export async function fillSearches({ entities }: Project, trx: Kysely<any>): Promise<void> {
  await sql`set local session_replication_role = origin`.execute(trx);
  for (const { table, search } of entities) {
    const [column] = search?.columns ?? [];
    if (column === undefined) continue;
    await trx.deleteFrom(`twofold_search_${table}`).execute();
    await trx
      .updateTable(table)
      .set({ [column]: sql.ref(column) })
      .execute();
  }
}

/** Fills the tables and reads them back; `holes` rows go missing though others refer to them. Rows are made in two steps, because two tables may refer to each other. */
export async function randomData(
  random: Random,
  project: Project,
  store: Store,
  holes = 0,
): Promise<Data> {
  const count = new Map(project.entities.map((entity) => [entity.name, 3 + random.below(8)]));
  const key = (column: Column) => 1 + random.below(count.get(column.references?.entity ?? '') ?? 1);
  await store.structuralTransaction(async (trx) => {
    if (store.dialect === 'postgres')
      await sql`set local session_replication_role = replica`.execute(trx);
    for (const entity of project.entities) {
      for (let id = 1; id <= (count.get(entity.name) ?? 0); id++) {
        const several = new Map(
          entity.fields.flatMap((field) => keysOfSeveral(random, project, count, field)),
        );
        const values = entity.columns
          .filter(({ name }) => name !== 'id')
          .map((column): [string, unknown] => {
            if (several.has(column.name)) return [column.name, several.get(column.name)];
            if (!column.required && random.chance(0.25)) return [column.name, null];
            if (column.references) return [column.name, key(column)];
            return [
              column.name,
              column.list
                ? JSON.stringify([random.pick(WORDS), random.pick(WORDS)])
                : bound(randomValue(random, column.scalar), column, store),
            ];
          });
        await trx
          .insertInto(entity.table)
          .values(Object.fromEntries([...values]))
          .execute();
      }
    }
    for (const table of joinTables(project)) {
      const pairs = new Set(
        Array.from({ length: random.below(12) }, () =>
          table.columns
            .map(({ references }) => 1 + random.below(countOf(project, count, references?.table)))
            .join(),
        ),
      );
      for (const pair of pairs)
        await trx
          .insertInto(table.name)
          .values(
            Object.fromEntries(
              pair.split(',').map((value, index) => [table.columns[index]?.name, Number(value)]),
            ),
          )
          .execute();
    }
  });
  for (let hole = 0; hole < holes; hole++)
    await removeUnnoticed(random.pick(project.entities).table, 1 + random.below(7), store);
  return readData(project, store);
}

/** What the tables hold. */
export const readData = async (project: Project, store: Store): Promise<Data> => ({
  rows: await readAll(project, store),
  joins: await readJoins(project, store),
});

/** The two columns of a key that may be of several types; both are nothing, or none is. */
function keysOfSeveral(
  random: Random,
  project: Project,
  count: ReadonlyMap<string, number>,
  { source, type }: Field,
): [string, unknown][] {
  if (source.kind !== 'one' || source.typeColumn === undefined) return [];
  const { members } = project.abstracts.find(({ name }) => name === type.name) ?? { members: [] };
  const member = !type.required && random.chance(0.25) ? null : random.pick(members);
  return [
    [source.typeColumn, member],
    [source.column, member === null ? null : 1 + random.below(count.get(member) ?? 1)],
  ];
}

/** Leaves rows behind that refer to nothing, as no server of ours would: a program beside it might. */
async function removeUnnoticed(table: string, id: number, store: Store): Promise<void> {
  if (store.dialect === 'sqlite') {
    // A text that begins like this goes to the connection that writes.
    await store.query('/**/ pragma foreign_keys = off', []);
    await store.db.deleteFrom(table).where('id', '=', id).execute();
    await store.query('/**/ pragma foreign_keys = on', []);
  } else {
    await store.transaction(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await trx.deleteFrom(table).where('id', '=', id).execute();
    });
  }
}

const joinTables = (project: Project) =>
  buildTables(project).filter(({ primaryKey }) => primaryKey.length === 2);

const countOf = (project: Project, count: ReadonlyMap<string, number>, table: string | undefined) =>
  count.get(project.entities.find((entity) => entity.table === table)?.name ?? '') ?? 1;

const bound = (value: unknown, { type }: Column, store: Store) =>
  type === 'bigint' && store.dialect === 'sqlite' ? BigInt(value as string) : value;

async function readAll(project: Project, store: Store): Promise<Map<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  for (const entity of project.entities) {
    const columns = entity.columns.map(({ name, type }) =>
      type === 'bigint' ? sql<string>`cast(${sql.ref(name)} as text)`.as(name) : name,
    );
    const found = (await store.db
      .selectFrom(entity.table)
      .select(columns as never)
      .orderBy('id')
      .execute()) as Row[];
    rows.set(
      entity.name,
      found.map((row) => ({ ...row, __typename: entity.name })),
    );
  }
  return rows;
}

async function readJoins(project: Project, store: Store): Promise<Map<string, Row[]>> {
  const rows = new Map<string, Row[]>();
  for (const table of joinTables(project))
    rows.set(
      table.name,
      (await store.db
        .selectFrom(table.name)
        .select(table.columns.map(({ name }) => name) as never)
        .execute()) as Row[],
    );
  return rows;
}
