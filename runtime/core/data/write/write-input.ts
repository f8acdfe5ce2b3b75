import type { One, Field, Write, WriteShape } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { refusal, type Access } from '../access/access.ts';
import { Change } from './change.ts';
import type { InputError } from './constraint.ts';
import { rowHooks, type RowHooks } from './row-hooks.ts';
import { found, propertyOf, type EntityModel, type Model } from '../model.ts';
import { stored } from '../sql/stored-as.ts';
import { toStored } from '../sql/values.ts';
import {
  completeRow,
  fieldsOf,
  insertRow,
  isThere,
  updateRow,
  writeAccess,
  type Key,
  type Writer,
  type Writing,
} from './writer.ts';
import { type CreateOptions, nestedKey, type NestedRows, nestUnder } from './write-nested.ts';
import { referredValue, existing, isOpen, keyOf, replaceAll } from './write-relation.ts';
import { isChange } from './operators.ts';
import { hooksOfRow, removeNested } from './write-remove.ts';
import { assertIdentityKept, assertId, completeByKey } from './key-values.ts';

type Input = Readonly<Record<string, unknown>>;
type Nested = Extract<Write, { kind: 'nested' }>;

/** The contents of an input, grouped by when they can be written. */
interface SortedInput extends PlainInput {
  /** The key of the row, when it exists before the input is written. */
  readonly id?: Key | undefined;
  /** Writes that can run only when the row has a key: those of the other side of relations. */
  readonly after: ((id: Key) => Promise<void>)[];
}

/**
 * Creates a row with everything that its input nests.
 *
 * @throws AppError `BAD_USER_INPUT` when it refers to a row that is not there, `FORBIDDEN`,
 * `CONFLICT`.
 */
export async function createFrom(
  writing: Writing,
  shape: WriteShape,
  input: Input,
  options: CreateOptions = {},
): Promise<Key> {
  const { access, preset, fallback, hooks: begun } = options;
  const entity = writing.model.entity(shape.entity);
  const base = access ?? writing.rules.entity(entity.entity, 'CREATE');
  const hooks = begun ?? rowHooks(writing, entity, 'create');
  if (hooks && base.kind === 'none') throw refusal(base.code);
  const added = await hooks?.resolve(input, new Map([...(fallback ?? []), ...(preset ?? [])]));
  const { values, names, fields, after } = await sortAll(writing, { shape, input, added, hooks });
  for (const [column, value] of preset ?? []) values.set(column, value);
  if (fallback) await completeByKey(writing, entity, fallback, values);
  const linking = fieldsOf(entity, [...(preset?.keys() ?? []), ...(fallback?.keys() ?? [])]);
  const allowed = writeAccess(writing, entity, [...fields, ...linking], 'CREATE', base);
  if (hooks) await hooks.check(added ?? {}, missingErrors(writing, entity, values, allowed));
  const id = await insertRow(writing, entity, { values, names }, allowed);
  for (const step of after) await step(id);
  await hooks?.after(writing, id);
  return id;
}

/** Required columns that nothing sets, when hooks have completed the input. */
export function missingErrors(
  writing: Writing,
  entity: EntityModel,
  values: ReadonlyMap<string, unknown>,
  access: Access,
): InputError[] {
  const complete = completeRow(writing, entity, { values: new Map(values) }, access);
  return entity.entity.columns
    .filter(({ name, required }) => required && name !== 'id' && !isSet(complete.get(name)))
    .map((column) => ({ field: propertyOf(entity, column), message: 'is required' }));
}

const isSet = (value: unknown) => value !== undefined && value !== null;

/**
 * Updates a row and the rows that its input nests; absent fields are unchanged. @returns whether
 * the row exists.
 */
export async function updateFrom(
  writing: Writing,
  shape: WriteShape,
  id: unknown,
  input: Input,
  access?: Access,
): Promise<boolean> {
  const entity = writing.model.entity(shape.entity);
  const base = access ?? writing.rules.entity(entity.entity, 'UPDATE');
  const key = String(
    toStored(id, stored(writing.model, entity, 'id'), writing.model.ids, writing.dialect),
  );
  const hooks = await hooksOfRow(writing, entity, 'update', { key, access: base });
  const added = await hooks?.resolve(input);
  // The rows that the input nests are written before this row, so it must be checked first that
  // this row exists.
  if (nestsRows(shape, input) && !(await isThere(writing, entity, key, base))) return false;
  const completed = { id: key, shape, input, added, hooks };
  const { values, names, fields, after } = await sortAll(writing, completed);
  const allowed = writeAccess(writing, entity, fields, 'UPDATE', base);
  if (hooks) await hooks.check(added ?? {});
  if (!(await updateRow(writing, entity, id, { values, names }, allowed))) return false;
  for (const step of after) await step(key);
  await hooks?.after(writing, key);
  return true;
}

const nestsRows = ({ writes }: WriteShape, input: Input): boolean =>
  writes.some(({ kind, name }) => kind === 'nested' && isSet(input[name]));

interface Completed {
  /** The key of the row, when it exists before the input is written. */
  readonly id?: Key;
  readonly shape: WriteShape;
  readonly input: Input;
  /** What hooks add, which replaces what the caller gave for the same column or relation. */
  readonly added: Input | undefined;
  readonly hooks: RowHooks | undefined;
}

/** Rules of fields are checked for what the caller gave, and not for what hooks add. */
async function sortAll(
  writing: Writing,
  { shape, input, added, hooks, id }: Completed,
): Promise<SortedInput> {
  if (!hooks || !added || Object.keys(added).length === 0)
    return sortInput(writing, shape, input, id);
  const given = await sortInput(
    writing,
    shape,
    without(writing.model, { shape, input }, added, hooks.shape),
    id,
  );
  const more = await sortInput(writing, hooks.shape, added, id);
  return {
    values: new Map([...given.values, ...more.values]),
    names: new Map([...given.names, ...more.names]),
    fields: given.fields,
    after: [...given.after, ...more.after],
  };
}

/** The input without what hooks have set. */
export function without(
  model: Model,
  { shape, input }: Pick<Completed, 'shape' | 'input'>,
  added: Input,
  addedShape: WriteShape,
): Input {
  const targets = targetsOf(model, shape);
  const addedTargets = targetsOf(model, addedShape);
  const set = new Set(
    Object.keys(added)
      .filter((name) => added[name] !== undefined)
      .map((name) => addedTargets.get(name)),
  );
  return Object.fromEntries(
    Object.entries(input).filter(([name]) => {
      const target = targets.get(name);
      return target === undefined || !set.has(target);
    }),
  );
}

const TARGETS = new WeakMap<WriteShape, ReadonlyMap<string, string>>();

/** The columns and relations that the members of an input set, by the name of the member. */
function targetsOf(model: Model, shape: WriteShape): ReadonlyMap<string, string> {
  const known = TARGETS.get(shape);
  if (known) return known;
  const targets = new Map(shape.writes.map((write) => [write.name, targetOf(model, shape, write)]));
  TARGETS.set(shape, targets);
  return targets;
}

/** The column, or the relation, that a member of an input sets. */
function targetOf(model: Model, shape: WriteShape, write: Write): string {
  if (write.kind === 'column') return write.column;
  if (write.kind === 'ignored') return `ignored ${write.name}`;
  const source = model.entity(shape.entity).fields.get(write.field)?.source;
  return source?.kind === 'one' && source.key === 'own' ? source.column : `field ${write.field}`;
}

/** What an input sets in one row, when it sets only columns. */
export interface PlainInput {
  readonly values: Map<string, unknown>;
  /** Names of the input's fields, by column. */
  readonly names: Map<string, string>;
  /** The names of the given fields. The caller needs the right to write each of them. */
  readonly fields: string[];
}

/**
 * Reads an input that only sets columns of one row. Undefined when it nests other rows, or another
 * row must be checked first.
 */
export function plainInput(
  writer: Writer,
  shape: WriteShape,
  input: Input,
): PlainInput | undefined {
  const entity = writer.model.entity(shape.entity);
  const plain: PlainInput = { values: new Map(), names: new Map(), fields: [] };
  for (const write of shape.writes) {
    const value = input[write.name];
    if (value === undefined || write.kind === 'ignored') continue;
    if (write.kind === 'column') setColumn(writer, { entity, write, value }, plain);
    else if (write.kind !== 'key' || !setOpenKey(writer, entity, write, value, plain))
      return undefined;
  }
  return plain;
}

interface GivenColumn {
  readonly entity: EntityModel;
  readonly write: Extract<Write, { kind: 'column' }>;
  readonly value: unknown;
}

function setColumn(
  writer: Writer,
  { entity, write: { column, name, constraint }, value }: GivenColumn,
  { values, names, fields }: PlainInput,
): void {
  if (column === 'id') assertId(writer, entity, value, name);
  assertIdentityKept(writer, entity.entity.name, { column, name });
  const known = entity.columns.get(column);
  const change =
    known && isChange(known, value) ? new Change(known, name, value, constraint) : undefined;
  if (!change) values.set(column, value);
  else values.set(column, change.word === 'set' ? change.operand : change);
  names.set(column, name);
  fields.push(known?.field ?? name);
}

/** @returns whether the foreign key is the only check that is needed. */
function setOpenKey(
  writer: Writer,
  { fields: known }: EntityModel,
  { field, name }: Extract<Write, { kind: 'key' }>,
  value: unknown,
  { values, names, fields }: PlainInput,
): boolean {
  const source = known.get(field)?.source;
  if (source?.kind !== 'one' || source.key !== 'own') return false;
  const other = writer.model.entity(source.entity);
  if (value !== null && (!isOpen(writer, other) || source.to !== undefined)) return false;
  values.set(source.column, value === null ? null : keyOf(writer, other, value, name));
  names.set(source.column, name);
  fields.push(field);
  return true;
}

/** Reads an input that may nest other rows. @throws AppError `BAD_USER_INPUT`, `FORBIDDEN` */
export async function sortInput(
  writing: Writing,
  shape: WriteShape,
  input: Input,
  id?: Key,
): Promise<SortedInput> {
  const entity = writing.model.entity(shape.entity);
  const sorted: SortedInput = { id, values: new Map(), names: new Map(), fields: [], after: [] };
  for (const write of shape.writes) {
    const value = input[write.name];
    if (value === undefined || write.kind === 'ignored') continue;
    if (write.kind === 'column') {
      setColumn(writing, { entity, write, value }, sorted);
      continue;
    }
    sorted.fields.push(write.field);
    const field = found(entity.fields.get(write.field), `field ${shape.entity}.${write.field}`);
    if (write.kind === 'keys')
      sorted.after.push((id) =>
        replaceAll(
          writing,
          { parent: entity, field, id, at: write.name },
          value as unknown[] | null,
        ),
      );
    else if (write.kind === 'key') await setKey(writing, entity, field, value, write.name, sorted);
    else if (value !== null)
      await sortNested(writing, entity, field, write, value as Input, sorted);
    else if (field.source.kind === 'one')
      await setKey(writing, entity, field, null, write.name, sorted);
  }
  return sorted;
}

/** Sets a to-one relation by a key, in a column of this row or of the other row. */
async function setKey(
  writing: Writing,
  parent: EntityModel,
  field: Field,
  value: unknown,
  at: string,
  { values, names, after }: SortedInput,
): Promise<void> {
  const { source } = field;
  if (source.kind !== 'one') throw failure.invalid(`${at} is not a single object`);
  if (source.key === 'own') {
    const other = writing.model.entity(source.entity);
    names.set(source.column, at);
    values.set(
      source.column,
      value === null
        ? null
        : await foreignValue(writing, source, await existing(writing, other, value, at)),
    );
  } else
    after.push((id) =>
      replaceAll(writing, { parent, field, id, at }, value === null ? [] : [value]),
    );
}

/**
 * What the column of a relation holds: the key of the other row, or another unique column of it.
 */
function foreignValue(writing: Writing, { entity, to }: One, key: unknown): unknown {
  return to === undefined || key === null
    ? key
    : referredValue(writing, writing.model.entity(entity), key, to);
}

const NESTED: NestedRows = {
  create: createFrom,
  update: (writing, shape, id, input) => updateFrom(writing, shape, id, input),
  remove: removeNested,
};

async function sortNested(
  writing: Writing,
  entity: EntityModel,
  field: Field,
  write: Nested,
  input: Input,
  sorted: SortedInput,
): Promise<void> {
  const { source } = field;
  const relation = { parent: entity, field, at: write.name };
  const nesting = { write, input, rows: NESTED };
  if (source.kind === 'one' && source.key === 'own') {
    const of = { ...relation, id: sorted.id ?? '' };
    const { key, after } = await nestedKey(writing, of, nesting);
    if (key !== undefined)
      sorted.values.set(source.column, await foreignValue(writing, source, key));
    if (after) sorted.after.push(after);
  } else sorted.after.push((id) => nestUnder(writing, { ...relation, id }, nesting));
}
