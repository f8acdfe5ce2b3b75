import type { Field, Write, WriteShape } from '@twofold/schema';
import { failure, InternalError } from '../errors.ts';
import type { Access } from './access.ts';
import { joinSql, name, sql, type Sql } from './fragment.ts';
import { found, type EntityModel } from './model.ts';
import { stored } from './scope.ts';
import { toStored } from './values.ts';
import { insertRow, isVisible, run, updateRow, valueOf, writeAccess, type Key, type Writing } from './writer.ts';

type Input = Readonly<Record<string, unknown>>;
type Nested = Extract<Write, { kind: 'nested' }>;

/** What an input says, sorted by when it can be done. */
interface Sorted {
  /** Columns of the row itself. */
  readonly values: Map<string, unknown>;
  /** Names of the fields that are given, for their rules. */
  readonly fields: string[];
  /** What needs the row's key: the other side of relations. */
  readonly after: ((id: Key) => Promise<void>)[];
}

/**
 * Creates a row with everything that its input nests.
 *
 * @throws AppError `BAD_USER_INPUT` when it refers to a row that is not there, `FORBIDDEN`, `CONFLICT`.
 */
export async function createFrom(writing: Writing, shape: WriteShape, input: Input, access?: Access, preset?: ReadonlyMap<string, unknown>): Promise<Key> {
  const entity = writing.model.entity(shape.entity);
  const { values, fields, after } = await sortInput(writing, shape, input);
  for (const [column, value] of preset ?? []) values.set(column, value);
  const allowed = writeAccess(writing, entity, fields, 'CREATE', access ?? writing.rules.entity(entity.entity, 'CREATE'));
  const id = await insertRow(writing, entity, values, allowed);
  for (const step of after) await step(id);
  return id;
}

/** Changes a row and what its input nests; what is absent stays. @returns whether there was such a row. */
export async function updateFrom(writing: Writing, shape: WriteShape, id: unknown, input: Input, access?: Access): Promise<boolean> {
  const entity = writing.model.entity(shape.entity);
  const { values, fields, after } = await sortInput(writing, shape, input);
  const allowed = writeAccess(writing, entity, fields, 'UPDATE', access ?? writing.rules.entity(entity.entity, 'UPDATE'));
  if (!(await updateRow(writing, entity, id, values, allowed))) return false;
  const key = String(toStored(id, stored(writing.model, entity, 'id'), writing.model.ids, writing.dialect));
  for (const step of after) await step(key);
  return true;
}

async function sortInput(writing: Writing, shape: WriteShape, input: Input): Promise<Sorted> {
  const entity = writing.model.entity(shape.entity);
  const sorted: Sorted = { values: new Map(), fields: [], after: [] };
  for (const write of shape.writes) {
    const value = input[write.name];
    if (value === undefined || write.kind === 'ignored') continue;
    if (write.kind === 'column') {
      sorted.values.set(write.column, value);
      sorted.fields.push(entity.columns.get(write.column)?.field ?? write.name);
      continue;
    }
    sorted.fields.push(write.field);
    const field = found(entity.fields.get(write.field), `field ${shape.entity}.${write.field}`);
    if (write.kind === 'keys') sorted.after.push((id) => replaceAll(writing, field, id, value as unknown[] | null, write.name));
    else if (write.kind === 'key') await setKey(writing, entity, field, value, write.name, sorted);
    else if (value !== null) await sortNested(writing, entity, field, write, value as Input, sorted);
    else if (field.source.kind === 'one') await setKey(writing, entity, field, null, write.name, sorted);
  }
  return sorted;
}

/** To-one by key: a column of this row, or of the other one. */
async function setKey(writing: Writing, _entity: EntityModel, field: Field, value: unknown, at: string, { values, after }: Sorted): Promise<void> {
  const { source } = field;
  if (source.kind !== 'one') throw failure.invalid(`${at} is not a single object`);
  const other = writing.model.entity(source.entity);
  if (source.key === 'own') values.set(source.column, value === null ? null : await existing(writing, other, value, at));
  else after.push((id) => attach(writing, other, source.column, id, value === null ? [] : [value], at, true));
}

async function sortNested(writing: Writing, entity: EntityModel, field: Field, write: Nested, input: Input, sorted: Sorted): Promise<void> {
  const create = write.create && { list: listOf(input[write.create.name]) as Input[], shape: found(writing.model.writes.get(write.create.shape), `input ${write.create.shape}`) };
  const connect = listOf(write.connect === undefined ? undefined : input[write.connect]).map(keyOf);
  const disconnect = listOf(write.disconnect === undefined ? undefined : input[write.disconnect]).map(keyOf);
  const { source } = field;
  if (source.kind === 'one' && source.key === 'own') {
    if (connect.length + (create?.list.length ?? 0) > 1) throw failure.invalid(`${write.name} takes connect or create, not both`);
    for (const item of create?.list ?? []) sorted.values.set(source.column, await createFrom(writing, (create as NonNullable<typeof create>).shape, item));
    if (connect.length > 0) await setKey(writing, entity, field, connect[0], write.name, sorted);
    return;
  }
  sorted.after.push(async (id) => {
    await detachFrom(writing, field, id, disconnect);
    await attachTo(writing, field, id, connect, write.name);
    for (const item of create?.list ?? []) await createUnder(writing, field, id, (create as NonNullable<typeof create>).shape, item);
  });
}

const listOf = (value: unknown): unknown[] => (value === undefined || value === null || value === false ? [] : Array.isArray(value) ? value : [value]);

/** `{ id }`, or the id alone. */
const keyOf = (value: unknown) => (typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value);

/** A key of a row that is there, as far as the caller can see. */
async function existing(writing: Writing, other: EntityModel, value: unknown, at: string): Promise<unknown> {
  const key = toStored(value, stored(writing.model, other, 'id'), writing.model.ids, writing.dialect);
  if (key === null) throw missing(other, at);
  // Without rules about rows the foreign key itself is the check.
  const open = writing.rules.entity(other.entity, 'READ').kind === 'all' && !other.entity.softDelete;
  if (!open && !(await isVisible(writing, other, key))) throw missing(other, at);
  return key;
}

const missing = ({ entity }: EntityModel, at: string) => failure.invalid(`${at}: there is no such ${entity.name}`, { extensions: { reason: 'RELATION', field: at } });

async function attachTo(writing: Writing, field: Field, id: Key, keys: readonly unknown[], at: string): Promise<void> {
  const { source } = field;
  if (keys.length === 0) return;
  if (source.kind === 'one') return attach(writing, writing.model.entity(source.entity), source.column, id, keys, at, true);
  if (source.kind !== 'many') throw failure.invalid(`${at} is not a relation`);
  const other = writing.model.entity(source.entity);
  if (source.via.kind === 'column') return attach(writing, other, source.via.column, id, keys, at, false);
  const { table, own, other: column } = source.via;
  for (const key of keys) {
    const target = await existing(writing, other, key, at);
    await run(writing, sql`insert into ${name(table)} (${name(own)}, ${name(column)}) values (${keyValue(id)}, ${keyValue(target)}) on conflict do nothing`);
  }
}

const keyValue = (value: unknown) => sql`${{ from: 'value' as const, value, as: { type: 'id' as const } }}`;

/** Lets rows of the other table point here. `alone`: no other row may. */
async function attach(writing: Writing, other: EntityModel, column: string, id: Key, keys: readonly unknown[], at: string, alone: boolean): Promise<void> {
  if (alone) await release(writing, other, column, id);
  for (const key of keys) {
    const target = await existing(writing, other, key, at);
    const access = writing.rules.entity(other.entity, 'UPDATE');
    if (!(await updateRow(writing, other, target, new Map([[column, id]]), access))) throw missing(other, at);
  }
}

/** Lets rows that point here point nowhere, each as far as the caller may change it. */
async function release(writing: Writing, other: EntityModel, column: string, id: Key, which: Sql = sql``): Promise<void> {
  const rows = await run(writing, sql`select id from ${name(other.entity.table)} where ${name(column)} = ${keyValue(id)}${which}`);
  for (const row of rows) await updateRow(writing, other, row['id'], new Map([[column, null]]), writing.rules.entity(other.entity, 'UPDATE'));
}

async function detachFrom(writing: Writing, field: Field, id: Key, keys: readonly unknown[]): Promise<void> {
  const { source } = field;
  if (keys.length === 0 || (source.kind !== 'many' && source.kind !== 'one')) return;
  const other = writing.model.entity(source.entity);
  const listed = joinSql(keys.map((key) => valueOf(writing, other, 'id', key)), ', ');
  if (source.kind === 'many' && source.via.kind === 'table') {
    const { table, own, other: column } = source.via;
    await run(writing, sql`delete from ${name(table)} where ${name(own)} = ${keyValue(id)} and ${name(column)} in (${listed})`);
  } else await release(writing, other, foreignKey(source), id, sql` and id in (${listed})`);
}

/** The column of the other table that points here. */
function foreignKey(source: Extract<Field['source'], { kind: 'one' | 'many' }>): string {
  if (source.kind === 'one') return source.column;
  if (source.via.kind === 'column') return source.via.column;
  throw new InternalError('a relation over a join table has no foreign key');
}

async function createUnder(writing: Writing, field: Field, id: Key, shape: WriteShape, input: Input): Promise<void> {
  const { source } = field;
  if (source.kind === 'many' && source.via.kind === 'table') {
    const key = await createFrom(writing, shape, input);
    const { table, own, other } = source.via;
    await run(writing, sql`insert into ${name(table)} (${name(own)}, ${name(other)}) values (${keyValue(id)}, ${keyValue(key)})`);
    return;
  }
  if (source.kind !== 'one' && source.kind !== 'many') throw failure.invalid(`${field.name} is not a relation`);
  await createFrom(writing, shape, input, undefined, new Map([[foreignKey(source), id]]));
}

/** `tagIds: […]`: these and no others. */
async function replaceAll(writing: Writing, field: Field, id: Key, keys: readonly unknown[] | null, at: string): Promise<void> {
  const { source } = field;
  if (source.kind !== 'many') throw failure.invalid(`${at} is not a list of objects`);
  const other = writing.model.entity(source.entity);
  const targets: unknown[] = [];
  for (const key of new Set((keys ?? []).map(String))) targets.push(await existing(writing, other, key, at));
  const kept = targets.length === 0 ? undefined : joinSql(targets.map(keyValue), ', ');
  if (source.via.kind === 'table') {
    const { table, own, other: column } = source.via;
    await run(writing, sql`delete from ${name(table)} where ${name(own)} = ${keyValue(id)}${kept ? sql` and ${name(column)} not in (${kept})` : ''}`);
  } else await release(writing, other, source.via.column, id, kept && sql` and id not in (${kept})`);
  await attachTo(writing, field, id, targets, at);
}
