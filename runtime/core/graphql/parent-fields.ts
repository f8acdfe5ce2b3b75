import { isRawNumber, parseExact } from '../data/sql/exact-json.ts';
import DataLoader from 'dataloader';
import type { Field } from '@twofold/schema';
import { type FieldNode, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { AppError } from '../errors.ts';
import { refusal } from '../data/access/access.ts';
import { decodeRow, propertyOf, type EntityModel } from '../data/model.ts';
import type { Planned } from '../data/plan.ts';
import { readCalls } from './arguments.ts';
import type { Engine } from './engine.ts';
import { loadRow } from './loaders.ts';
import { noteCut, type Run } from './operation-run.ts';
import { planField } from './plan/planner.ts';
import type { Plan } from './plan/planning.ts';

/**
 * An object that the fields below it are read from: user code returned it, or a root field read it.
 */
export type Parent = Readonly<Record<string, any>>;

/** Rows that a root field has read. Its rules may allow more than those of the entity. */
const READ = new WeakSet<Parent>();

export function readRow(entity: EntityModel, stored: any, info: GraphQLResolveInfo): Parent {
  const row = decodeRow(entity, stored);
  // A caller who may read all rows needs no note, and a note costs as much as a short function.
  if ((info.rootValue as Run).rules.entity(entity.entity, 'READ').kind !== 'all') READ.add(row);
  return row;
}

/** Returns the value that the database wrote, and throws the error that a marker stands for. */
export function fromTree({ reader }: Engine, value: any): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (isRawNumber(value)) return value.rawJSON;
  if (!(reader.marker in value)) return value;
  if (value[reader.marker] === 'MISSING') return null;
  if (value[reader.marker] === 'OUT_OF_RANGE') throw outOfRange();
  throw refusal(value[reader.marker]);
}

/** The error in place of a number that would not be exact. */
const outOfRange = () =>
  new AppError(400, 'OUT_OF_RANGE', 'the number is too large for its type, or has a fraction');

/** A field of an object that user code returned: a member, or the row that its key refers to. */
export async function fromParent(
  engine: Engine,
  entity: EntityModel,
  field: Field,
  parent: Parent,
  args: any,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const { source } = field;
  const direct =
    source.kind === 'column' ? (parent[field.name] ?? parent[source.column]) : parent[field.name];
  const isValue = source.kind === 'column' || source.kind === 'tally';
  if (direct !== undefined && (isValue || typeof direct !== 'number')) {
    return typeof direct === 'function'
      ? direct.call(parent, args, context, info)
      : withPrefix(entity, field, direct);
  }
  if (source.kind === 'one' && source.key === 'own' && source.typeColumn !== undefined)
    return loadMember(engine, entity, field, {
      parent,
      context,
      info,
      column: source.column,
      typeColumn: source.typeColumn,
    });
  assertReadable(engine, source, info);
  const keyColumn = keyColumnOf(entity, source);
  const key = await columnOf(engine, entity, parent, keyColumn, context);
  if (source.kind === 'column') return withPrefix(entity, field, key ?? null);
  if (key !== undefined && key !== null)
    return loadField(engine, entity, field, {
      keyColumn,
      key,
      info,
      unread: keyColumn === 'id' && !READ.has(parent),
    });
  await assertAskable(info.rootValue as Run, entity, field, keyColumn, info);
  return null;
}

/** The column of the parent by which the field is read. */
function keyColumnOf({ fields }: EntityModel, source: Field['source']): string {
  if (source.kind === 'column') return source.column;
  const link = source.kind === 'tally' ? fields.get(source.relation)?.source : source;
  if (link?.kind === 'aggregated') return (link.via.kind === 'column' && link.via.to) || 'id';
  if (link?.kind === 'one') return link.key === 'own' ? link.column : (link.to ?? 'id');
  return (link?.kind === 'many' && link.via.kind === 'column' && link.via.to) || 'id';
}

/**
 * Refuses filters and orders that the caller may not use even where there is no key: otherwise the
 * answer would reveal that.
 */
function assertAskable(
  run: Run,
  entity: EntityModel,
  field: Field,
  keyColumn: string,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const id = idOf(entity, field, info);
  const known =
    run.askable.get(id) ??
    ask(
      run,
      entity,
      planField(run.planning, entity.entity.name, field, info.fieldNodes),
      keyColumn,
    );
  run.askable.set(id, known);
  return known;
}

/** Checks filters for each of several types: otherwise the answer would reveal the row's type. */
async function ask(
  run: Run,
  entity: EntityModel,
  plan: Plan<Planned>,
  keyColumn: string,
): Promise<void> {
  const members = plan.node.kind === 'abstract' ? plan.node.members : [];
  for (const asked of [
    plan,
    ...members.map((member) => memberPlan(plan, member.entity, keyColumn)),
  ])
    await readBatch(run, { entity, keyColumn }, asked, []);
}

/**
 * Refuses a caller who may see no row of the other entity even where there is no key: otherwise the
 * answer would reveal that.
 */
function assertReadable(
  { model }: Engine,
  source: Field['source'],
  info: GraphQLResolveInfo,
): void {
  const target =
    (source.kind === 'one' || source.kind === 'many' || source.kind === 'aggregated') &&
    model.entities.get(source.entity);
  const access = target && (info.rootValue as Run).rules.entity(target.entity, 'READ');
  if (access && access.kind === 'none') throw refusal(access.code);
}

const withPrefix = ({ entity, global }: EntityModel, field: Field, value: unknown) =>
  global && field.name === 'id' && value !== null && !String(value).startsWith(`${entity.name}:`)
    ? `${entity.name}:${value}`
    : value;

/**
 * The column's value in the parent. If user code returned only a part of the row, the stored row is
 * read.
 */
async function columnOf(
  engine: Engine,
  entity: EntityModel,
  parent: Parent,
  name: string,
  context: RequestContext,
): Promise<unknown> {
  const property = name === 'id' ? 'id' : propertyOf(entity, entity.column(name));
  const value = parent[property] ?? parent[name];
  if (value !== undefined || parent['id'] === undefined || name === 'id') return value;
  const row = await loadRow(engine, context, entity.entity.name, parent['id']);
  return row?.[property];
}

interface KeyedField {
  readonly keyColumn: string;
  readonly key: unknown;
  readonly info: GraphQLResolveInfo;
  /**
   * User code named the row, and rows that refer to it reveal its key. So a caller who may not see
   * the row gets nothing.
   */
  readonly unread: boolean;
}

/** Reads one field, with everything selected below it, for all parents of a level at once. */
async function loadField(
  engine: Engine,
  entity: EntityModel,
  field: Field,
  { keyColumn, key, info, unread }: KeyedField,
): Promise<unknown> {
  const run = info.rootValue as Run;
  const batch = batchOf(
    run,
    { entity, keyColumn, unread, above: keysOf(info) },
    `${idOf(entity, field, info)}${unread ? ':unread' : ''}`,
    () => planField(run.planning, entity.entity.name, field, info.fieldNodes),
  );
  return fromTree(engine, await batch.load(key));
}

interface AbstractKey {
  readonly parent: Parent;
  readonly context: RequestContext;
  readonly info: GraphQLResolveInfo;
  readonly column: string;
  readonly typeColumn: string;
}

/** Reads a row of one of several types, together with all other rows of its type. */
async function loadMember(
  engine: Engine,
  entity: EntityModel,
  field: Field,
  { parent, context, info, column, typeColumn }: AbstractKey,
): Promise<unknown> {
  const run = info.rootValue as Run;
  await assertAskable(run, entity, field, column, info);
  const [type, key] = [
    await columnOf(engine, entity, parent, typeColumn, context),
    await columnOf(engine, entity, parent, column, context),
  ];
  if (key === undefined || key === null) return null;
  const batch = batchOf(
    run,
    { entity, keyColumn: column, above: keysOf(info) },
    `${String(type)}:${placesOf(info)}`,
    () =>
      memberPlan(
        planField(run.planning, entity.entity.name, field, info.fieldNodes),
        String(type),
        column,
      ),
  );
  return fromTree(engine, await batch.load(key));
}

/** The plan for rows of one type; none if the caller may not read its rows. */
function memberPlan({ node, ...plan }: Plan<Planned>, type: string, column: string): Plan<Planned> {
  const member =
    node.kind === 'abstract' ? node.members.find(({ entity }) => entity === type) : undefined;
  if (!member) return { ...plan, node };
  return {
    ...plan,
    node: {
      kind: 'one',
      key: node.key,
      required: false,
      link: { key: 'own', column },
      selection: member.selection,
    },
  };
}

const idOf = ({ entity }: EntityModel, field: Field, info: GraphQLResolveInfo) =>
  `${entity.name}.${field.name}:${placesOf(info)}`;

/** The keys of the answer that lead to a field, without places in lists. */
const keysOf = ({ path }: GraphQLResolveInfo) =>
  responsePathAsArray(path).filter((key) => typeof key === 'string');

/** The position of a field in the document; its number for a node that was made without a text. */
export const placesOf = ({ fieldNodes }: Pick<GraphQLResolveInfo, 'fieldNodes'>): string =>
  fieldNodes.map((node) => node.loc?.start ?? `#${numberOf(node)}`).join();

const NUMBERS = new WeakMap<FieldNode, number>();
let numbers = 0;

function numberOf(node: FieldNode): number {
  const number = NUMBERS.get(node) ?? numbers++;
  NUMBERS.set(node, number);
  return number;
}

interface Keys {
  readonly entity: EntityModel;
  readonly keyColumn: string;
  readonly unread?: boolean;
  /** The keys of the answer that lead to the field. */
  readonly above?: readonly string[];
}

function batchOf(
  run: Run,
  of: Keys,
  id: string,
  plan: () => Plan<Planned>,
): DataLoader<unknown, unknown, string> {
  const known = run.batches.get(id);
  if (known) return known;
  const planned = plan();
  const batch = new DataLoader<unknown, unknown, string>(
    (keys) => readBatch(run, of, planned, keys),
    { cacheKeyFn: String, maxBatchSize: 1000 },
  );
  run.batches.set(id, batch);
  return batch;
}

async function readBatch(
  run: Run,
  { entity: { entity }, keyColumn, unread = false, above = [] }: Keys,
  plan: Plan<Planned>,
  keys: readonly unknown[],
): Promise<unknown[]> {
  const { engine, rules, context } = run;
  if (plan.node.kind === 'refused') throw refusal(plan.node.code);
  if (plan.node.kind === 'abstract') return keys.map(() => null);
  const calls = readCalls(run, plan.calls);
  const texts = await engine.reader.readBatch(entity.name, plan.node, keyColumn, keys, calls, {
    rules,
    noteCut: noteCut(run.cuts, above),
    tree: true,
    asker: context,
    unread,
  });
  return texts.map((text) => (text === null ? null : parseExact(text)));
}
