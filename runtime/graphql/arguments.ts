import { getArgumentValues, isInterfaceType, isObjectType, type GraphQLField, type GraphQLSchema, type ValueNode, type VariableValues } from 'graphql';
import { InternalError } from '../errors.ts';
import { failure } from '../errors.ts';
import type { Rules } from '../data/access.ts';
import { assertConstraint } from '../data/constraint.ts';
import type { Model } from '../data/model.ts';
import { readListArguments } from '../data/page.ts';
import type { Call } from '../data/plan.ts';
import type { CallSource } from './plan/planner.ts';

export interface ArgumentReading {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly rules: Rules;
  readonly variables: VariableValues;
}

/**
 * What the arguments of the nodes of a plan came to.
 *
 * @param key of the row, where the plan is of one known row.
 * @throws GraphQLError when a value is not of its type, AppError when it is of no use.
 */
export function readCalls(reading: ArgumentReading, sources: readonly CallSource[], key?: string): readonly Call[] {
  const known = CONSTANT.get(sources);
  if (known) return known;
  const calls = sources.map((source) => readCall(reading, source, key));
  if (sources.every(isConstant)) CONSTANT.set(sources, Object.freeze(calls));
  return calls;
}

/** Calls that no variable decides, which are the same as long as their plan is kept. */
const CONSTANT = new WeakMap<readonly CallSource[], readonly Call[]>();

const isConstant = ({ read, node }: CallSource) => read !== 'key' && (node.arguments ?? []).every(({ value }) => !hasVariable(value));

function hasVariable(value: ValueNode): boolean {
  if (value.kind === 'ListValue') return value.values.some(hasVariable);
  if (value.kind === 'ObjectValue') return value.fields.some((field) => hasVariable(field.value));
  return value.kind === 'Variable';
}

function readCall(reading: ArgumentReading, source: CallSource, key?: string): Call {
  if (source.read === 'key') return { equals: [{ column: 'id', value: key ?? null }], order: [] };
  const args = readArguments(reading, source);
  assertArguments(reading.model, source, args);
  switch (source.read) {
    case 'list': {
      const entity = reading.model.entities.get(source.entity);
      return entity ? readListArguments(reading.model, reading.rules, source.list, entity, args) : { equals: [], order: [] };
    }
    case 'get':
      return { equals: readKeys(source.by, args), order: [] };
    case 'node':
      return { equals: [], order: [], target: parseGlobalId(String(args[source.arg])) };
  }
}

/** The arguments of a field as graphql-js reads them. */
export function readArguments({ schema, variables }: Pick<ArgumentReading, 'schema' | 'variables'>, { type, field, node }: Pick<CallSource, 'type' | 'field' | 'node'>): Record<string, unknown> {
  return getArgumentValues(fieldOf(schema, type, field), node, variables);
}

function fieldOf(schema: GraphQLSchema, type: string, field: string): GraphQLField<unknown, unknown> {
  const parent = rootOf(schema, type) ?? schema.getType(type);
  const found = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[field] : undefined;
  if (!found) throw new InternalError(`the schema has no ${type}.${field}`);
  return found;
}

/** Actions call the roots Query and Mutation, whatever the schema calls them. */
function rootOf(schema: GraphQLSchema, type: string) {
  if (type === 'Query') return schema.getQueryType();
  return type === 'Mutation' ? schema.getMutationType() : undefined;
}

function assertArguments(model: Model, { type, field }: CallSource, args: Record<string, unknown>): void {
  const declared = model.operations.get(`${type}.${field}`)?.args ?? model.entities.get(type)?.fields.get(field)?.args ?? [];
  for (const { name, constraint } of declared) assertConstraint(constraint, args[name], name);
}

/** A lookup by several fields takes those that are given. */
function readKeys(by: readonly { readonly arg: string; readonly column: string }[], args: Record<string, unknown>): Call['equals'] {
  const given = by.filter(({ arg }) => args[arg] !== undefined && args[arg] !== null).map(({ arg, column }) => ({ column, value: args[arg] }));
  if (given.length === 0) throw failure.invalid(`give ${by.map(({ arg }) => arg).join(' or ')}`);
  return given;
}

/** `Post:7`. See the GraphQL Global Object Identification Specification; an id stays readable. */
function parseGlobalId(text: string): { type: string; id: string } {
  const colon = text.indexOf(':');
  return colon < 0 ? { type: '', id: text } : { type: text.slice(0, colon), id: text.slice(colon + 1) };
}
