import {
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Random } from '../generator/random.ts';

/**
 * Random documents: nested fields, arguments by variables, aliases, named and inline fragments on
 * objects, interfaces and unions, `@include` and `@skip` on all of them.
 *
 * Two known mistakes of graphql-codegen are avoided: what it makes of a key that is selected both
 * with and without a condition, and of a fragment with a condition inside an interface.
 */
export function createRandomDocuments(schema: GraphQLSchema, random: Random) {
  let names = 0;
  return (): string => {
    names += 1;
    const state: State = { schema, random, number: names, keys: 0, variables: [], fragments: [] };
    const kind = random.chance(0.25) && schema.getMutationType() ? 'mutation' : 'query';
    const root = schema.getRootType(kind as never)!;
    const body = selection(root, 4, state);
    const condition = state.variables.some((each) => each.startsWith('$is'))
      ? []
      : ['$is: Boolean!'];
    const variables = [...condition, ...state.variables].join(', ');
    return `${kind} R${names}(${variables}) ${body}\n${state.fragments.join('\n')}`;
  };
}

interface State {
  readonly schema: GraphQLSchema;
  readonly random: Random;
  readonly number: number;
  keys: number;
  readonly variables: string[];
  readonly fragments: string[];
}

function selection(type: GraphQLCompositeType, depth: number, state: State): string {
  const parts = fieldsOf(type, depth, state);
  const { random } = state;
  if (depth > 1 && random.chance(0.3)) parts.push(spread(type, depth, state));
  if (isAbstractType(type)) parts.push(...members(type, depth, state));
  else if (random.chance(0.15)) parts.push(`... @include(if: $is) { ${aliased(type, state)} }`);
  return `{ ${parts.join(' ')} }`;
}

function fieldsOf(type: GraphQLCompositeType, depth: number, state: State): string[] {
  const { random } = state;
  if (!('getFields' in type)) return random.chance(0.5) ? ['__typename'] : ['kind: __typename'];
  const all = Object.values(type.getFields()).filter((field) => depth > 1 || isLeaf(field));
  if (all.length === 0) return ['__typename'];
  const count = 1 + random.whole(4);
  const chosen = new Set(Array.from({ length: count }, () => random.pick(all)));
  return [...chosen].map((field) => selected(field, depth, state));
}

const isLeaf = (field: GraphQLField<unknown, unknown>) =>
  !isCompositeType(getNamedType(field.type));

/** A field with arguments, a selection or a condition gets a key of its own, so that no two clash. */
function selected(field: GraphQLField<unknown, unknown>, depth: number, state: State): string {
  const { random } = state;
  const type = getNamedType(field.type);
  const given = argumentsOf(field, state);
  const condition = random.chance(0.1) ? ` @${random.pick(['include', 'skip'])}(if: $is)` : '';
  const inner = isCompositeType(type) ? ` ${selection(type, depth - 1, state)}` : '';
  const isPlain = given === '' && condition === '' && inner === '';
  const key = isPlain && random.chance(0.8) ? '' : `k${++state.keys}: `;
  return `${key}${field.name}${given}${condition}${inner}`;
}

function argumentsOf({ args }: GraphQLField<unknown, unknown>, state: State): string {
  const { random } = state;
  const given = args.filter(
    ({ type, defaultValue }) =>
      (isNonNullType(type) && defaultValue === undefined) || random.chance(0.3),
  );
  if (given.length === 0) return '';
  const parts = given.map(({ name, type }) => {
    const variable = `$v${state.variables.length}`;
    state.variables.push(`${variable}: ${String(type)}`);
    return `${name}: ${variable}`;
  });
  return `(${parts.join(', ')})`;
}

/** Leaves under keys of their own: what a fragment with a condition may hold. */
function aliased(type: GraphQLObjectType, state: State): string {
  const leaves = Object.values(type.getFields()).filter(
    (field) => isLeaf(field) && field.args.every((arg) => !isNonNullType(arg.type)),
  );
  return leaves.length === 0
    ? `k${++state.keys}: __typename`
    : `k${++state.keys}: ${state.random.pick(leaves).name}`;
}

function spread(type: GraphQLCompositeType, depth: number, state: State): string {
  const name = `F${state.number}x${state.fragments.length}`;
  const at = state.fragments.push('') - 1;
  const conditional = isObjectType(type) && state.random.chance(0.2);
  const body = conditional
    ? `{ ${aliased(type, state)} }`
    : `{ ${fieldsOf(type, depth - 1, state).join(' ')} }`;
  state.fragments[at] = `fragment ${name} on ${type.name} ${body}`;
  return `...${name}${conditional ? ' @skip(if: $is)' : ''}`;
}

function members(type: GraphQLCompositeType, depth: number, state: State): string[] {
  if (!isAbstractType(type)) return [];
  const possible = [...state.schema.getPossibleTypes(type)];
  const chosen = new Set(
    Array.from({ length: state.random.whole(4) }, () => state.random.pick(possible)),
  );
  return [...chosen].map(
    (each) => `... on ${each.name} { ${fieldsOf(each, depth - 1, state).join(' ')} }`,
  );
}
