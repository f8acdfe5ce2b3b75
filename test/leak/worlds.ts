import { sql } from 'kysely';
import type { Column, Entity, Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import type { Row } from '../graphql/random-data.ts';
import type { Random } from '../graphql/random-schema.ts';
import { sightOf, type Sight } from './sight.ts';

/** Rows by the name of their entity. */
export type World = ReadonlyMap<string, readonly Row[]>;

const PUBLIC_WORDS = ['ant', 'bee', 'cat', 'dog', 'eel'];

/** The two columns that say which row of which type. */
interface KeyOfSeveral {
  readonly typeColumn: string;
  readonly column: string;
}

const keysOfSeveral = ({ fields }: Entity): KeyOfSeveral[] =>
  fields.flatMap(({ source }) =>
    source.kind === 'one' && source.key === 'own' && source.typeColumn !== undefined
      ? [{ typeColumn: source.typeColumn, column: source.column }]
      : [],
  );

/** The user whose rows are the caller's own. */
export const userOf = (caller: Principal) =>
  caller.kind === 'user' ? caller.id : caller.kind === 'api_key' ? caller.userId : null;

/** Every text that is made for a row, so that those of hidden ones can be told from all others. The last row is the caller's own. */
export function randomWorld(random: Random, project: Project, caller: Principal): World {
  const user = userOf(caller);
  const counts = new Map(project.entities.map(({ name }) => [name, 4 + random.below(5)]));
  const value = (
    entity: Entity,
    { name, scalar, required, references }: Column,
    id: number,
  ): unknown => {
    if (name === 'id') return id;
    if (references?.entity === 'User' && id === counts.get(entity.name) && user !== null)
      return user;
    if (!required && random.chance(0.2)) return null;
    if (references) return 1 + random.below(counts.get(references.entity) ?? 1);
    if (scalar === 'Int') return random.below(6);
    return name === 'label'
      ? random.pick(PUBLIC_WORDS)
      : `${name} ${entity.name} ${id} ${random.below(1e6)}`;
  };
  const pair = ({ typeColumn, column }: KeyOfSeveral): Row => {
    const type = random.pick(project.entities).name;
    return random.chance(0.3)
      ? { [typeColumn]: null, [column]: null }
      : { [typeColumn]: type, [column]: 1 + random.below(counts.get(type) ?? 1) };
  };
  const row = (entity: Entity, id: number): Row =>
    Object.assign(
      Object.fromEntries(entity.columns.map((column) => [column.name, value(entity, column, id)])),
      ...keysOfSeveral(entity).map(pair),
    );
  return new Map(
    project.entities.map((entity) => [
      entity.name,
      Array.from({ length: counts.get(entity.name) ?? 0 }, (_, index) => row(entity, index + 1)),
    ]),
  );
}

/**
 * Another world that is the same for `caller`: rows that it may not see have other values or are not there, what it may not
 * see of the others has other values, and keys lead to other rows that it may not see, or nowhere.
 */
export function otherWorld(
  random: Random,
  project: Project,
  world: World,
  caller: Principal,
): World {
  const sight = sightOf(project, caller);
  const hidden = (entity: Entity, row: Row) => !sight.row(entity, row);
  const unseen = new Map(
    project.entities.map((entity) => [
      entity.name,
      (world.get(entity.name) ?? [])
        .filter((row) => hidden(entity, row))
        .map(({ id }) => id as number),
    ]),
  );
  const changed = new Map(
    project.entities.map((entity) => [
      entity.name,
      (world.get(entity.name) ?? []).map((row) =>
        changedRow({ random, sight, unseen }, entity, row),
      ),
    ]),
  );
  return withoutSome(random, project, changed, sight);
}

interface Changing {
  readonly random: Random;
  readonly sight: Sight;
  readonly unseen: ReadonlyMap<string, readonly number[]>;
}

/** Values are changed one by one, each only if the caller may then do neither more nor less than before. */
function changedRow(changing: Changing, entity: Entity, row: Row): Row {
  const several = keysOfSeveral(entity);
  let current: Row = Object.assign(
    {},
    row,
    ...several.map((key) => otherPair(changing, entity, row, key)),
  );
  for (const column of entity.columns) {
    if (
      column.name === 'id' ||
      several.some((key) => column.name === key.column || column.name === key.typeColumn)
    )
      continue;
    const next = { ...current, [column.name]: otherValue(changing, entity, column, row) };
    if (sameRights(changing.sight, entity, row, next)) current = next;
  }
  return current;
}

const VERBS = ['READ', 'UPDATE', 'DELETE'] as const;

const sameRights = (sight: Sight, entity: Entity, before: Row, after: Row) =>
  VERBS.every((verb) => sight.row(entity, before, verb) === sight.row(entity, after, verb)) &&
  entity.fields.every(
    ({ name }) => sight.field(entity, name, before) === sight.field(entity, name, after),
  );

/** Nothing, or another row that the caller may not see, of whatever type. */
function otherPair(
  { random, sight, unseen }: Changing,
  entity: Entity,
  row: Row,
  { typeColumn, column }: KeyOfSeveral,
): Row {
  const kept = { [typeColumn]: row[typeColumn], [column]: row[column] };
  const seen =
    row[column] !== null && !unseen.get(String(row[typeColumn]))?.includes(row[column] as number);
  if (random.chance(0.3) || (seen && sight.row(entity, row))) return kept;
  const [type, ids] = random.pick([...unseen]);
  return random.chance(0.4) || ids.length === 0
    ? { [typeColumn]: null, [column]: null }
    : { [typeColumn]: type, [column]: random.pick(ids) };
}

function otherValue(
  { random, sight, unseen }: Changing,
  entity: Entity,
  column: Column,
  row: Row,
): unknown {
  const value = row[column.name];
  const rowSeen = sight.row(entity, row);
  if (column.references) {
    const others = unseen.get(column.references.entity) ?? [];
    // Which row it is that nobody sees makes no difference, nor that there is one at all.
    if (rowSeen && value !== null && !others.includes(value)) return value;
    if (rowSeen && value === null && (column.required || random.chance(0.5) || others.length === 0))
      return value;
    if (!column.required && random.chance(0.5)) return null;
    return others.length > 0 ? random.pick(others) : value;
  }
  const field = entity.fields.find(
    ({ source }) => source.kind === 'column' && source.column === column.name,
  );
  if (rowSeen && (!field || sight.field(entity, field.name, row))) return value;
  if (column.scalar === 'Int')
    return random.chance(0.2) && !column.required ? null : random.below(6);
  return column.name === 'label'
    ? random.pick(PUBLIC_WORDS)
    : `other ${column.name} ${entity.name} ${row['id']} ${random.below(1e6)}`;
}

/** Rows that the caller may neither see nor change, and that nothing has to refer to, are not there. The last stays: the next key follows from it. */
function withoutSome(
  random: Random,
  project: Project,
  world: Map<string, Row[]>,
  sight: Sight,
): World {
  for (const entity of project.entities) {
    const rows = world.get(entity.name) ?? [];
    const gone = rows
      .slice(0, -1)
      .filter((row) => VERBS.every((verb) => !sight.row(entity, row, verb)) && random.chance(0.4));
    const keys = new Set(gone.map(({ id }) => id as number));
    const holders = project.entities.flatMap((other) =>
      other.columns
        .filter(({ references }) => references?.entity === entity.name)
        .map((column) => ({ other, column })),
    );
    for (const { other, column } of holders) {
      for (const row of world.get(other.name) ?? [])
        if (
          keys.has(row[column.name]) &&
          (column.required || !sameRights(sight, other, row, { ...row, [column.name]: null }))
        )
          keys.delete(row[column.name]);
    }
    for (const { other, column } of holders)
      world.set(
        other.name,
        (world.get(other.name) ?? []).map((row) =>
          keys.has(row[column.name]) ? { ...row, [column.name]: null } : row,
        ),
      );
    world.set(
      entity.name,
      (world.get(entity.name) ?? []).filter(({ id }) => !keys.has(id)),
    );
  }
  return world;
}

/** The rows of a world become the only ones of a database that has the tables. The next key of each is that after those of `like`. */
export async function settle(
  project: Project,
  store: Store,
  world: World,
  like: World,
): Promise<void> {
  await store.structuralTransaction(async (trx) => {
    if (store.dialect === 'postgres')
      await sql`set local session_replication_role = replica`.execute(trx);
    for (const { name, table } of project.entities) {
      await trx.deleteFrom(table).execute();
      const rows = world.get(name) ?? [];
      if (rows.length > 0)
        await trx
          .insertInto(table)
          .values([...rows])
          .execute();
      const last = like.get(name)?.length ?? 0;
      await (
        store.dialect === 'postgres'
          ? sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`
          : sql`update sqlite_sequence set seq = ${last} where name = ${table}`
      ).execute(trx);
    }
  });
}

/** Texts of the world that its caller may not read. */
export function hiddenTexts(project: Project, world: World, caller: Principal): string[] {
  const sight = sightOf(project, caller);
  return project.entities.flatMap((entity) =>
    (world.get(entity.name) ?? []).flatMap((row) =>
      entity.fields.flatMap(({ name, source }) => {
        const value = source.kind === 'column' ? row[source.column] : undefined;
        return typeof value === 'string' &&
          name !== 'label' &&
          !(sight.row(entity, row) && sight.field(entity, name, row))
          ? [value]
          : [];
      }),
    ),
  );
}

/** Nobody, users with and without a role, keys of a service and of a user. */
export function callersOf(random: Random): Principal[] {
  const person = (id: number, role: string | null): Principal => ({
    kind: 'user',
    id,
    role: role === null ? null : { id: 1, name: role },
    permissions: [],
    sessionId: 's',
    extend: {},
  });
  return [
    { kind: 'anonymous' },
    person(1, 'member'),
    person(2, null),
    person(3, 'admin'),
    {
      kind: 'api_key',
      id: 'k',
      scopes: random.pick([['*'], ['alphas:read', 'users:read', 'betas:write'], []]),
      userId: random.pick([null, 1]),
    },
  ];
}
