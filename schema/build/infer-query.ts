import { snakeCase } from '../names.ts';
import type { Action } from '../model.ts';
import { didYouMean } from '../did-you-mean.ts';
import { aggregatedEntity, aggregatedOf, stemOf } from './aggregated.ts';
import { connectionOf } from './connections.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import { listOptions } from './list-options.ts';
import { paged } from '../implied-lists.ts';
import { columnNames, namedColumn, takes } from './named-columns.ts';
import { namesKey, soleKey } from './keys.ts';
import { entitiesOf } from './relation-ends.ts';
import { attempt, Refusal, type Shapes } from './shapes.ts';
import { userEntity } from './user.ts';
import { uniqueKeys } from './unique-keys.ts';

/** The action of a root field, and the rule that decided it. */
export interface Inferred {
  readonly action: Action;
  readonly decidedBy: string;
}

/**
 * The action of a field of Query; undefined when it resembles none. `forced`: the value of
 * `@resolve(as:)`.
 *
 * @example
 * inferQuery(shapes, field) // { action: { kind: 'get', entity: 'User', … }, decidedBy: 'get by id' }
 */
export function inferQuery(
  shapes: Shapes,
  field: FieldFact,
  forced?: 'GET' | 'LIST',
): Inferred | undefined {
  const { facts } = shapes;
  if (isNode(field)) return { action: { kind: 'node', arg: 'id' }, decidedBy: 'node' };
  if (isByIds(field)) return inferNodes(field);
  if (isCaller(facts, field))
    return { action: { kind: 'caller', entity: field.named.name }, decidedBy: 'caller' };
  const counted = aggregatedEntity(field, facts);
  if (counted) return inferAggregated(shapes, field, counted, forced);
  const connection = connectionOf(field.named.name, facts);
  const named = connection?.node ?? field.named;
  const members = entitiesOf(named, facts);
  if (members.length === 0) return undefined;
  const entity = facts.entities.get(named.name);
  if (!field.type.list && !connection) {
    if (forced === 'LIST') throw new Refusal(`${field.type.text} is not a list`);
    return entity && inferGet(shapes, field, entity);
  }
  if (forced === 'GET') throw new Refusal(`${field.type.text} is a list`);
  if (forced || isNeutral(field, entity)) return inferList(shapes, field, entity, named.name);
  throw unclear(shapes, field, entity, named.name);
}

/**
 * Works on copies of the maps: an input type that only a refused field uses must not be part of the
 * model.
 */
function unclear(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact | undefined,
  type: string,
): Refusal {
  const { filters, orders, refused } = shapes;
  const tried: Shapes = {
    ...shapes,
    filters: new Map(filters),
    orders: new Map(orders),
    refused: new Map(refused),
  };
  const list = attempt(() => inferList(tried, field, entity, type));
  const why = `the name ${field.name} may promise a choice among the rows of ${type}`;
  return list instanceof Refusal
    ? new Refusal(`${why}, and ${list.why}`)
    : new Refusal(why, { forced: 'LIST' });
}

function isNode(field: FieldFact): boolean {
  return (
    field.name === 'node' &&
    field.named.name === 'Node' &&
    !field.type.list &&
    field.args.length === 1 &&
    field.args[0]?.name === 'id'
  );
}

/** A list of nodes whose argument has the name that Relay gives to the plural of `node(id:)`. */
const isByIds = ({ name, named, type, args }: FieldFact): boolean =>
  name === 'nodes' && named.name === 'Node' && type.list && args.some((arg) => arg.name === 'ids');

function inferNodes({ type, args }: FieldFact): Inferred {
  if (type.text === '[Node]!' && args.length === 1 && args[0]?.type.text === '[ID!]!')
    return { action: { kind: 'nodes', arg: 'ids' }, decidedBy: 'nodes' };
  throw new Refusal(
    'what is served has an item for each id, which is null where there is no row to see',
    { fix: 'nodes(ids: [ID!]!): [Node]!' },
  );
}

const CALLER = ['me', 'viewer', 'current_user'];

/** `me`, `viewer` and `currentUser` are the row of the caller, where users sign in. */
const isCaller = (facts: Facts, { snakeName, named, type, args }: FieldFact): boolean =>
  CALLER.includes(snakeName) &&
  userEntity(facts)?.name === named.name &&
  !type.list &&
  args.length === 0;

/**
 * Prefixes that do not restrict a list. `myPosts` and `topPosts` do restrict it, so the user has to
 * write them.
 */
const BEFORE = new Set([
  'all',
  'list',
  'get',
  'find',
  'fetch',
  'query',
  'aggregate',
  'group',
  'grouped',
]);
const AFTER = new Set(['list', 'connection', 'page', 'all']);

/** Numbers over all rows of an entity, or over groups of them. */
function inferAggregated(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact,
  forced: 'GET' | 'LIST' | undefined,
): Inferred {
  if (forced === 'GET') throw new Refusal(`${field.type.text} is not one ${entity.name}`);
  const action = aggregatedOf(shapes, field, entity);
  const restricted = field.directives.list?.where !== undefined;
  const named = { ...field, snakeName: snakeCase(stemOf(field.name)) };
  if (forced || restricted || isNeutral(named, entity))
    return { action, decidedBy: action.groups ? 'groups' : 'aggregate' };
  throw new Refusal(
    `the name ${field.name} may promise a choice among the rows of ${entity.name}`,
    { forced: 'LIST' },
  );
}

/** An interface or union has no certain plural, so any name is accepted. */
function isNeutral(field: FieldFact, entity: EntityFact | undefined): boolean {
  if (!entity) return true;
  const words = field.snakeName
    .replace(/_by_.+$/, '')
    .split('_')
    .filter(Boolean);
  while (words.length > 1 && BEFORE.has(words[0] ?? '')) words.shift();
  while (words.length > 1 && AFTER.has(words.at(-1) ?? '')) words.pop();
  const rest = words.join('_');
  return [snakeCase(entity.plural), snakeCase(entity.singular)].some(
    (name) => name === rest || name.endsWith(`_${rest}`),
  );
}

function inferList(
  shapes: Shapes,
  field: FieldFact,
  entity: EntityFact | undefined,
  type: string,
): Inferred {
  const list = paged(listOptions(shapes, field, entity));
  const what = list.connection ? 'connection' : 'list';
  if (entity) return { action: { kind: 'list', entity: entity.name, list }, decidedBy: what };
  return { action: { kind: 'listAbstract', type, list }, decidedBy: `${what} of ${type}` };
}

function inferGet(shapes: Shapes, field: FieldFact, entity: EntityFact): Inferred {
  if (field.args.length === 0) throw new Refusal(`no argument says which ${entity.name}`);
  const names = field.directives.resolve?.by;
  const by: { arg: string; column: string }[] = [];
  for (const [index, argument] of field.args.entries()) {
    const name = names?.[index] ?? argument.name;
    const isKey = namesKey(name, entity) && !entity.fields.has(name);
    const column = namedColumn(shapes, entity, isKey ? 'id' : name);
    if (!column || column.json)
      throw new Refusal(`the argument ${name} is no field of ${entity.name}`, {
        fix: didYouMean(name, columnNames(shapes, entity)),
      });
    if (argument.type.list || !takes(shapes, column, argument.type.name))
      throw new Refusal(
        `the argument ${argument.name} is ${argument.type.text}, ` +
          `and ${entity.name}.${column.field.name} is ${column.field.type.text}`,
      );
    const isOwn = column.field.name === soleKey(entity);
    by.push({ arg: argument.name, column: isOwn ? 'id' : column.column });
  }
  const given = by.map(({ column }) => column);
  const unique = uniqueKeys(shapes, entity).some((key) =>
    key.every((column) => given.includes(column)),
  );
  return {
    action: { kind: 'get', entity: entity.name, by, unique },
    decidedBy: by.length === 1 && by[0]?.column === 'id' ? 'get by id' : 'lookup by fields',
  };
}
