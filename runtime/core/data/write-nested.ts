import type { ConnectOrCreate, Field, RowKey, Write, WriteShape } from '@twofold/schema';
import { failure } from '../errors.ts';
import type { Access } from './access.ts';
import { missing } from './belonging.ts';
import { found, type EntityModel } from './model.ts';
import type { RowHooks } from './row-hooks.ts';
import { findOrCreate, givenKey, keyColumns, locate, type Located } from './row-key.ts';
import {
  attach,
  createUnder,
  detach,
  existing,
  releaseAll,
  type Relation,
} from './write-relation.ts';
import type { Key, Writing } from './writer.ts';

type Input = Readonly<Record<string, unknown>>;
type Nested = Extract<Write, { kind: 'nested' }>;

export interface CreateOptions {
  /** What the caller may do; by the rules of the entity when absent. */
  readonly access?: Access;
  /** Columns that the input cannot change: they link the row to its parent. */
  readonly preset?: ReadonlyMap<string, unknown>;
  /** Columns that the input may leave out: the key by which the row was looked for. */
  readonly fallback?: ReadonlyMap<string, unknown>;
  /** The hooks of the row, when they have begun. */
  readonly hooks?: RowHooks;
}

/** A nested input, and the function that creates rows from inputs. */
export interface Nesting {
  readonly write: Nested;
  readonly input: Input;
  create(writing: Writing, shape: WriteShape, input: Input, options?: CreateOptions): Promise<Key>;
}

/**
 * The key that a nested input gives to a column of its own row; undefined when it leaves the column
 * unchanged.
 *
 * @throws AppError `BAD_USER_INPUT` when it does several things at once.
 */
export async function nestedKey(
  writing: Writing,
  relation: Relation,
  nesting: Nesting,
): Promise<unknown> {
  const { write, input, create } = nesting;
  const part = onlyPart(write, input);
  if (part === undefined) return undefined;
  if (part === write.disconnect) return null;
  if (part === write.create?.name)
    return create(writing, shapeOf(writing, write.create.shape), input[part] as Input);
  const key =
    part === write.connect
      ? await namedKey(writing, relation, write, input[part])
      : (await connectedOrCreated(writing, nesting, input[part] as Input)).id;
  return existing(writing, relatedTo(writing, relation.field), key, write.name);
}

function onlyPart(write: Nested, input: Input): string | undefined {
  const { connect, disconnect, create, connectOrCreate } = write;
  const parts = [connect, disconnect, create?.name, connectOrCreate?.name];
  const given = parts.filter((part) => part !== undefined && isGiven(input[part]));
  if (given.length > 1)
    throw failure.invalid(`${write.name} takes ${given.join(' or ')}, not both`, {
      extensions: { field: write.name },
    });
  return given[0];
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== false;

/** Writes the rows of the other side: first those that leave, then those that come. */
export async function nestUnder(
  writing: Writing,
  relation: Relation,
  nesting: Nesting,
): Promise<void> {
  const { write, input, create } = nesting;
  await leave(writing, relation, nesting);
  for (const item of listOf(write.connect, input))
    await attach(writing, relation, [await namedKey(writing, relation, write, item)]);
  for (const item of listOf(write.create?.name, input))
    await createUnder(writing, relation, (preset) =>
      create(writing, shapeOf(writing, write.create?.shape ?? ''), item as Input, { preset }),
    );
  for (const item of inOrder(write.connectOrCreate, listOf(write.connectOrCreate?.name, input))) {
    const { id, created } = await connectedOrCreated(writing, nesting, item as Input, relation);
    if (!created) await attach(writing, relation, [id]);
  }
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

/** The row of a `connectOrCreate`. One that is created is linked to `relation`, if there is one. */
async function connectedOrCreated(
  writing: Writing,
  { write, create: createRow }: Nesting,
  item: Input,
  relation?: Relation,
): Promise<Located> {
  const { by, create, name } = found(write.connectOrCreate, `${write.name}.connectOrCreate`);
  const other = writing.model.entity(shapeOf(writing, create.shape).entity);
  const key = givenKey(by, item, `${write.name}.${name}.where`);
  const input = (item[create.name] ?? {}) as Input;
  const make = (inner: Writing, link: Pick<CreateOptions, 'preset'>) =>
    createRow(inner, shapeOf(inner, create.shape), input, {
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

/** `{ id }`, or the id alone. */
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
