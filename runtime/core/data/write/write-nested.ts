import type { ConnectOrCreate, Field, RowKey, Write, WriteShape } from '@twofold/schema';
import { failure } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { missing } from './belonging.ts';
import { found, type EntityModel } from '../model.ts';
import type { RowHooks } from './row-hooks.ts';
import { findOrCreate, givenKey, keyColumns, locate, type Located } from './row-key.ts';
import {
  attach,
  createUnder,
  detach,
  existing,
  keyOf,
  relatedKey,
  releaseAll,
  replaceAll,
  type Relation,
} from './write-relation.ts';
import type { Key, Writing } from './writer.ts';

type Input = Readonly<Record<string, unknown>>;
type Nested = Extract<Write, { kind: 'nested' }>;

export interface CreateOptions {
  /** The caller's access to the row; when absent, the rules of the entity decide. */
  readonly access?: Access;
  /** Columns that the input cannot change: they link the row to its parent. */
  readonly preset?: ReadonlyMap<string, unknown>;
  /** Columns that the input may leave out: the key by which the row was looked for. */
  readonly fallback?: ReadonlyMap<string, unknown>;
  /** The hooks of the row, when they have begun. */
  readonly hooks?: RowHooks;
}

/** A nested input, and the functions that write rows from inputs. */
export interface Nesting {
  readonly write: Nested;
  readonly input: Input;
  readonly rows: NestedRows;
}

/**
 * Functions that write nested rows. They are passed as arguments, because an input type may contain
 * itself.
 */
export interface NestedRows {
  create(writing: Writing, shape: WriteShape, input: Input, options?: CreateOptions): Promise<Key>;
  /** @returns whether the row exists */
  update(writing: Writing, shape: WriteShape, id: unknown, input: Input): Promise<boolean>;
  /** @returns whether the row existed */
  remove(writing: Writing, entity: EntityModel, id: Key): Promise<boolean>;
}

/** The change of a foreign key of this row that a nested input asks for. */
export interface NestedKey {
  /** The new value of the key; undefined leaves it unchanged. */
  readonly key: unknown;
  /** Runs after this row was written. */
  readonly after?: () => Promise<void>;
}

/**
 * The key that a nested input gives to a column of its own row. The related row is updated at once,
 * and deleted when nothing refers to it any more.
 *
 * @param relation its `id` is empty when this row is created.
 * @throws AppError `BAD_USER_INPUT` when it links to several rows, or there is no row to write.
 */
export async function nestedKey(
  writing: Writing,
  relation: Relation,
  nesting: Nesting,
): Promise<NestedKey> {
  const { write, input, rows } = nesting;
  assertOneLink(write, input);
  const former = relation.id === '' ? null : await formerKey(writing, relation, nesting);
  const isGone = isAsked(write.delete, input);
  if (isGone && former === null) throw missing(relatedTo(writing, relation.field), write.name);
  const unlinked = isGone || isAsked(write.disconnect, input);
  const linked = await linkedKey(writing, relation, nesting);
  const current = linked ?? (unlinked ? null : former);
  const { update, create } = write;
  if (update && isAsked(update.name, input))
    await updateRelated(writing, relation, nesting, { key: current, data: input[update.name] });
  const created =
    create && isAsked(create.name, input)
      ? await rows.create(writing, shapeOf(writing, create.shape), input[create.name] as Input)
      : undefined;
  const key = created ?? linked ?? (unlinked ? null : undefined);
  if (!isGone || former === null) return { key };
  return { key, after: () => removeRelated(writing, relation, nesting, former) };
}

/**
 * The key of the related row so far; it is only read when the input updates or deletes that row.
 */
async function formerKey(
  writing: Writing,
  relation: Relation,
  { write, input }: Nesting,
): Promise<Key | null> {
  const isNeeded = isAsked(write.delete, input) || isAsked(write.update?.name, input);
  return isNeeded ? relatedKey(writing, relation) : null;
}

/** The row that the input connects; undefined when it connects none. */
async function linkedKey(writing: Writing, relation: Relation, nesting: Nesting): Promise<unknown> {
  const { write, input } = nesting;
  const other = relatedTo(writing, relation.field);
  if (isAsked(write.connect, input)) {
    const key = await namedKey(writing, relation, write, input[write.connect!]);
    return existing(writing, other, key, write.name);
  }
  const { connectOrCreate } = write;
  if (!isAsked(connectOrCreate?.name, input)) return undefined;
  const item = input[connectOrCreate!.name] as Input;
  return existing(
    writing,
    other,
    (await connectedOrCreated(writing, nesting, item)).id,
    write.name,
  );
}

/** Throws when an input both connects and creates, because there can be only one related row. */
function assertOneLink({ name, connect, create, connectOrCreate }: Nested, input: Input): void {
  const parts = [connect, create?.name, connectOrCreate?.name];
  const given = parts.filter((part) => isAsked(part, input));
  if (given.length > 1)
    throw failure.invalid(`${name} takes ${given.join(' or ')}, not both`, {
      extensions: { field: name },
    });
}

const isAsked = (part: string | undefined, input: Input): boolean =>
  part !== undefined && isGiven(input[part]);

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== false;

/**
 * Writes the rows of the other side: disconnect, delete, set, connect, connectOrCreate, update,
 * create.
 */
export async function nestUnder(
  writing: Writing,
  relation: Relation,
  nesting: Nesting,
): Promise<void> {
  const { write, input, rows } = nesting;
  const { create, connectOrCreate } = write;
  if (relation.field.source.kind === 'one') assertOneLink(write, input);
  await leave(writing, relation, nesting);
  for (const item of listOf(write.delete, input)) {
    const key = await ownKey(writing, relation, item, { by: write.deleteBy, at: 'delete' });
    await removeRelated(writing, relation, nesting, key);
  }
  if (isAsked(write.set, input)) await setRows(writing, relation, nesting);
  for (const item of listOf(write.connect, input))
    await attach(writing, relation, [await namedKey(writing, relation, write, item)]);
  for (const item of inOrder(connectOrCreate, listOf(connectOrCreate?.name, input))) {
    const { id, created } = await connectedOrCreated(writing, nesting, item as Input, relation);
    if (!created) await attach(writing, relation, [id]);
  }
  await updateRows(writing, relation, nesting);
  for (const item of listOf(create?.name, input))
    await createUnder(writing, relation, (preset) =>
      rows.create(writing, shapeOf(writing, create?.shape ?? ''), item as Input, { preset }),
    );
}

/** `set: [{ id }]`: links exactly these rows and unlinks all others. */
async function setRows(
  writing: Writing,
  relation: Relation,
  { write, input }: Nesting,
): Promise<void> {
  const other = relatedTo(writing, relation.field);
  const keys: unknown[] = [];
  for (const item of listOf(write.set, input)) {
    const key = await keyIn(writing, other, item, write.setBy);
    if (key === null) throw missing(other, relation.at);
    keys.push(key);
  }
  await replaceAll(writing, relation, keys);
}

async function updateRows(writing: Writing, relation: Relation, nesting: Nesting): Promise<void> {
  const { update } = nesting.write;
  if (!update) return;
  for (const item of listOf(update.name, nesting.input)) {
    const { where: at, data = '', by } = update;
    const input = item as Input;
    const where = at === undefined ? true : by ? input : input[at];
    const key = await ownKey(writing, relation, where, { by, at: 'update' });
    await updateRelated(writing, relation, nesting, {
      key,
      data: at === undefined ? input : input[data],
    });
  }
}

/**
 * The key of a row that already belongs to this row. `true` means the row of a to-one relation.
 *
 * @throws AppError `BAD_USER_INPUT` for any other row.
 */
async function ownKey(
  writing: Writing,
  relation: Relation,
  item: unknown,
  { by, at }: { readonly by: RowKey | undefined; readonly at: string },
): Promise<Key> {
  const other = relatedTo(writing, relation.field);
  const named =
    item === true
      ? undefined
      : by
        ? await locate(writing, other, givenKey(by, item, `${relation.at}.${at}`))
        : keyOf(writing, other, idOf(item), relation.at);
  const key = named === null ? null : await relatedKey(writing, relation, named);
  if (key === null) throw missing(other, relation.at);
  return key;
}

/** @throws AppError `BAD_USER_INPUT` when there is no row */
async function updateRelated(
  writing: Writing,
  relation: Relation,
  { write, rows }: Nesting,
  { key, data }: { readonly key: unknown; readonly data: unknown },
): Promise<void> {
  const shape = shapeOf(writing, write.update?.shape ?? '');
  const input = (data ?? {}) as Input;
  if (key === null || !(await rows.update(writing, shape, key, input)))
    throw missing(relatedTo(writing, relation.field), write.name);
}

async function removeRelated(
  writing: Writing,
  relation: Relation,
  { write, rows }: Nesting,
  key: Key,
): Promise<void> {
  const other = relatedTo(writing, relation.field);
  if (!(await rows.remove(writing, other, key))) throw missing(other, write.name);
}

async function leave(
  writing: Writing,
  relation: Relation,
  { write, input }: Nesting,
): Promise<void> {
  const other = relatedTo(writing, relation.field);
  const keys: unknown[] = [];
  for (const item of listOf(write.disconnect, input)) {
    if (item === true) return releaseAll(writing, relation);
    keys.push(await keyIn(writing, other, item, write.disconnectBy));
  }
  await detach(
    writing,
    relation,
    keys.filter((key) => key !== null),
  );
}

/**
 * Several callers that name the same keys lock them in the same order, so that they do not wait for
 * each other in a circle.
 */
function inOrder(nested: ConnectOrCreate | undefined, items: readonly unknown[]): unknown[] {
  if (items.length < 2) return [...items];
  const keyOf = (item: unknown) =>
    JSON.stringify([...givenKey(nested?.by ?? [], item, nested?.name ?? '').values()].map(String));
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ item }) => item);
}

/**
 * The row of a `connectOrCreate`. A row that is created is linked to `relation`, if that is given.
 */
async function connectedOrCreated(
  writing: Writing,
  { write, rows }: Nesting,
  item: Input,
  relation?: Relation,
): Promise<Located> {
  const { by, create, name } = found(write.connectOrCreate, `${write.name}.connectOrCreate`);
  const other = writing.model.entity(shapeOf(writing, create.shape).entity);
  const key = givenKey(by, item, `${write.name}.${name}.where`);
  const input = (item[create.name] ?? {}) as Input;
  const make = (inner: Writing, link: Pick<CreateOptions, 'preset'>) =>
    rows.create(inner, shapeOf(inner, create.shape), input, {
      ...link,
      fallback: keyColumns(other, key),
    });
  const usable = [writing.rules.entity(other.entity, 'READ')];
  return findOrCreate(writing, other, { key, usable }, (inner) =>
    relation ? createUnder(inner, relation, (preset) => make(inner, { preset })) : make(inner, {}),
  );
}

async function namedKey(
  writing: Writing,
  { field, at }: Relation,
  { connectBy }: Nested,
  item: unknown,
): Promise<unknown> {
  const other = relatedTo(writing, field);
  const key = await keyIn(writing, other, item, connectBy);
  if (key === null) throw missing(other, at);
  return key;
}

async function keyIn(
  writing: Writing,
  other: EntityModel,
  item: unknown,
  by: RowKey | undefined,
): Promise<unknown> {
  return by ? locate(writing, other, givenKey(by, item, 'connect')) : idOf(item);
}

/** The id of an item, which is `{ id }` or the id alone. */
const idOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : value;

const relatedTo = (writing: Writing, { name, source }: Field): EntityModel =>
  writing.model.entity(source.kind === 'one' || source.kind === 'many' ? source.entity : name);

const shapeOf = ({ model }: Writing, id: string) => found(model.writes.get(id), `input ${id}`);

function listOf(part: string | undefined, input: Input): readonly unknown[] {
  const value = part === undefined ? undefined : input[part];
  if (!isGiven(value)) return [];
  return Array.isArray(value) ? value : [value];
}
