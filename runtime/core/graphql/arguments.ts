import type { Constraint, ListOptions } from '@twofold/schema';
import {
  isInterfaceType,
  type FieldNode,
  isObjectType,
  type GraphQLField,
  type GraphQLSchema,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import { failure, InternalError } from '../errors.ts';
import type { Rules } from '../data/access/access.ts';
import { assertConstraint } from '../data/write/constraint.ts';
import type { EntityModel, Model } from '../data/model.ts';
import { readGrouping } from '../data/figures/grouping.ts';
import { readListArguments } from '../data/rows/page.ts';
import type { Call, Target } from '../data/plan.ts';
import { listOf } from '../data/sql/list-of.ts';
import { argumentValues } from './argument-values.ts';
import type { CallSource } from './plan/planning.ts';

/** What the values of arguments are read from: a run. */
interface ArgumentReading {
  readonly engine: { readonly model: Model; readonly schema: GraphQLSchema };
  readonly rules: Rules;
  readonly variables: VariableValues;
  /** The most rows of a list inside an object that no size is asked for, see `Run`. */
  readonly nested?: number | undefined;
}

/** The key of a row that was just written, or those of several rows. */
export type WrittenKey = string | readonly string[];

/** The part of a plan node that is the same for every request. */
interface ReadyCall {
  readonly source: CallSource;
  /** The schema's definition of the field; undefined when no argument is read. */
  readonly definition?: GraphQLField<unknown, unknown>;
  /** Constraints of the arguments that have one in the model. */
  readonly constraints: readonly { readonly name: string; readonly constraint: Constraint }[];
}

/**
 * The nodes of one plan. `calls` is set when no variable affects them: the values are then the same
 * for every request.
 */
interface Ready {
  readonly nodes: readonly ReadyCall[];
  readonly constant: boolean;
  calls?: readonly Call[];
  /** The size of nested lists in `calls`. */
  nested?: number | undefined;
}

/** Entries are removed together with their plan. */
const READY = new WeakMap<readonly CallSource[], Ready>();

/**
 * The values of the arguments of a plan's nodes.
 *
 * @param key of the row or rows, when the plan reads known ones.
 * @throws GraphQLError when a value does not have its type, AppError when it cannot be used.
 */
export function readCalls(
  reading: ArgumentReading,
  sources: readonly CallSource[],
  key?: WrittenKey,
): readonly Call[] {
  const ready = READY.get(sources) ?? prepare(reading, sources);
  if (ready.calls && ready.nested === reading.nested) return ready.calls;
  const calls = ready.nodes.map((node) => readCall(reading, node, key));
  ready.nested = reading.nested;
  if (ready.constant) ready.calls = Object.freeze(calls);
  return calls;
}

function prepare({ engine }: ArgumentReading, sources: readonly CallSource[]): Ready {
  const { model, schema } = engine;
  const nodes = sources.map((source) => ({
    source,
    ...(source.read === 'key'
      ? NO_ARGUMENTS
      : {
          definition: fieldOf(schema, source.type, source.field),
          constraints: constraintsOf(model, source),
        }),
  }));
  const ready = { nodes, constant: sources.every(isConstant) };
  READY.set(sources, ready);
  return ready;
}

const NO_ARGUMENTS = { constraints: [] };

function constraintsOf(model: Model, { type, field }: CallSource): ReadyCall['constraints'] {
  const declared =
    model.operations.get(`${type}.${field}`)?.args ??
    model.entities.get(type)?.fields.get(field)?.args ??
    [];
  return declared.flatMap(({ name, constraint }) => (constraint ? [{ name, constraint }] : []));
}

const isConstant = ({ read, node }: CallSource) =>
  read !== 'key' && (node.arguments ?? []).every(({ value }) => !hasVariable(value));

function hasVariable(value: ValueNode): boolean {
  if (value.kind === 'ListValue') return value.values.some(hasVariable);
  if (value.kind === 'ObjectValue') return value.fields.some((field) => hasVariable(field.value));
  return value.kind === 'Variable';
}

function readCall(
  { engine: { model }, rules, variables, nested }: ArgumentReading,
  node: ReadyCall,
  key?: WrittenKey,
): Call {
  const { source } = node;
  if (source.read === 'key') return callOfKey(key);
  const args = node.definition ? argumentValues(node.definition, source.node, variables) : {};
  for (const { name, constraint } of node.constraints)
    assertConstraint(constraint, args[name], name);
  switch (source.read) {
    case 'list': {
      const entity = searchedEntity(model, source);
      if (!entity) return { equals: [], order: [] };
      const list = source.type === 'Query' ? source.list : nestedList(source.list, nested);
      const call = readListArguments(model, rules, list, entity, args);
      return source.groups
        ? { ...call, groups: readGrouping({ model, rules, entity }, source.groups, args) }
        : call;
    }
    case 'get':
      return { equals: readKeys(source.by, args), order: [] };
    case 'node':
    case 'nodes':
      return { equals: [], order: [], targets: readTargets(model, source.arg, args) };
  }
}

/** A list inside an object, with the page that an operation of many lists leaves for it. */
const nestedList = (list: ListOptions, nested = Infinity): ListOptions =>
  nested < list.paging.default ? { ...list, paging: { ...list.paging, default: nested } } : list;

/**
 * Rows of several types are found together. The entity with the most searched fields decides the
 * weights.
 */
function searchedEntity(
  model: Model,
  { entity: name, members = [] }: Extract<CallSource, { read: 'list' }>,
): EntityModel | undefined {
  const entity = model.entities.get(name);
  const searches = members.flatMap((member) => model.entities.get(member)?.entity.search ?? []);
  const [search] = searches.toSorted((a, b) => b.columns.length - a.columns.length);
  return entity && search ? { ...entity, entity: { ...entity.entity, search } } : entity;
}

const callOfKey = (key: WrittenKey = ''): Call =>
  typeof key === 'string'
    ? { equals: [{ column: 'id', value: key }], order: [] }
    : { equals: [], keys: key, order: [{ column: 'id', descending: false }] };

/** The arguments of a field of `type` as graphql-js reads them. */
export function readArguments(
  { engine, variables }: ArgumentReading,
  type: string,
  node: FieldNode,
): Record<string, unknown> {
  return argumentValues(fieldOf(engine.schema, type, node.name.value), node, variables);
}

function fieldOf(
  schema: GraphQLSchema,
  type: string,
  field: string,
): GraphQLField<unknown, unknown> {
  const parent = rootOf(schema, type) ?? schema.getType(type);
  const found =
    isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[field] : undefined;
  if (!found) throw new InternalError(`the schema has no ${type}.${field}`);
  return found;
}

/** Actions use these names for root types, even when the schema names them differently. */
function rootOf(schema: GraphQLSchema, type: string) {
  if (type === 'Query') return schema.getQueryType();
  if (type === 'Mutation') return schema.getMutationType();
  return type === 'Subscription' ? schema.getSubscriptionType() : undefined;
}

/** Reads the arguments of a lookup by several fields: those that the caller gave. */
function readKeys(
  by: readonly { readonly arg: string; readonly column: string }[],
  args: Record<string, unknown>,
): Call['equals'] {
  const given: { column: string; value: unknown }[] = [];
  for (const { arg, column } of by)
    if (args[arg] !== undefined && args[arg] !== null) given.push({ column, value: args[arg] });
  if (given.length === 0) throw failure.invalid(`give ${by.map(({ arg }) => arg).join(' or ')}`);
  return given;
}

/** @throws AppError `BAD_USER_INPUT` for more ids than a list may have rows. */
function readTargets(
  { entities, project }: Model,
  arg: string,
  args: Record<string, unknown>,
): readonly Target[] {
  const ids = listOf(args[arg]);
  const limit = project.api.limits.list;
  if (ids.length > limit)
    throw failure.invalid(`${arg} must have at most ${limit} items`, {
      extensions: { value: ids.length, field: arg, limit },
    });
  return ids.map((id) => parseGlobalId(entities, String(id).toWellFormed()));
}

/**
 * Parses `Post:7`. See the GraphQL Global Object Identification Specification. Ids are not encoded,
 * so that people can read them.
 */
function parseGlobalId(entities: Model['entities'], text: string): Target {
  const colon = text.indexOf(':');
  const type = text.slice(0, Math.max(colon, 0));
  return entities.has(type) ? { type, id: text.slice(colon + 1) } : { type: '', id: text };
}
