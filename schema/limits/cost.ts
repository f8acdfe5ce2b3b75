import {
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  isNonNullType,
  type OperationDefinitionNode,
  type SelectionNode,
  valueFromASTUntyped,
} from 'graphql';
import type { ListOptions } from '../model.ts';
import { filterCost, havingCost, orderCost } from './filter-cost.ts';
import type { Fragments } from './measures.ts';
import {
  type Amount,
  NOTHING,
  type Price,
  type PricedModel,
  sum,
  times,
  totalOf,
  type Variables,
} from './price.ts';

/** The parts of a document that are needed to compute the cost of an operation. */
export interface Costed {
  readonly node: OperationDefinitionNode;
  readonly fragments: Fragments;
}

/** The settings on which the cost of an operation depends. */
export interface Prices {
  readonly schema: GraphQLSchema;
  readonly model: PricedModel;
}

export function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables,
) {
  let all: Record<string, unknown> | undefined;
  for (const { variable, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    if (!defaultValue || given[name] !== undefined) continue;
    all ??= { ...given };
    all[name] = valueFromASTUntyped(defaultValue);
  }
  return all ?? given;
}

/** Sizes to try in place of those that an operation gives. */
export type Sizes = ReadonlyMap<FieldNode, number>;

/** A list of an operation, and the argument for its size. */
export interface SizedList {
  readonly field: FieldNode;
  readonly argument: string;
}

interface Tried extends Prices {
  readonly nested: number | undefined;
  readonly sizes?: Sizes;
  /** Collects the lists, outer ones first. */
  readonly sized?: SizedList[];
}

interface Pricing extends Tried {
  readonly fragments: Fragments;
  readonly known: Map<string, Price>;
}

/** The cost of an operation with sizes that it does not give. */
export function triedCost(prices: Tried, operation: Costed, variables: Variables): number {
  return totalOf(priceOperation(prices, operation), withDefaults(operation.node, variables)).value;
}

export function priceOperation(prices: Tried, { node, fragments }: Costed): Price {
  const pricing: Pricing = { ...prices, fragments, known: new Map() };
  const root = prices.schema.getRootType(node.operation);
  return root ? priceOf(pricing, node.selectionSet.selections, root) : NOTHING;
}

function priceOf(
  pricing: Pricing,
  selections: readonly SelectionNode[],
  type: GraphQLNamedType,
): Price {
  return sum(
    selections.map((selection) =>
      unlessExcluded(selection, priceOfSelection(pricing, selection, type)),
    ),
  );
}

function priceOfSelection(
  pricing: Pricing,
  selection: SelectionNode,
  type: GraphQLNamedType,
): Price {
  if (selection.kind === 'Field') return priceOfField(pricing, selection, type);
  if (selection.kind === 'FragmentSpread') return priceOfFragment(pricing, selection.name.value);
  const on = selection.typeCondition && pricing.schema.getType(selection.typeCondition.name.value);
  return priceOf(pricing, selection.selectionSet.selections, on ?? type);
}

function priceOfFragment(pricing: Pricing, name: string): Price {
  const known = pricing.known.get(name);
  if (known) return known;
  pricing.known.set(name, NOTHING);
  const fragment = pricing.fragments.get(name);
  const type = fragment && pricing.schema.getType(fragment.typeCondition.name.value);
  const price = type ? priceOf(pricing, fragment.selectionSet.selections, type) : NOTHING;
  pricing.known.set(name, price);
  return price;
}

/** A part that `@skip` or `@include` excludes costs nothing. */
function unlessExcluded({ directives = [] }: SelectionNode, price: Price): Price {
  const conditions = directives.filter(({ name }) => /^(?:skip|include)$/.test(name.value));
  if (conditions.length === 0 || price === NOTHING) return price;
  return (variables) =>
    conditions.every(({ name, arguments: given = [] }) => {
      const value = given[0] && valueFromASTUntyped(given[0].value, variables);
      return value === (name.value === 'include');
    })
      ? totalOf(price, variables)
      : NOTHING;
}

function priceOfField(pricing: Pricing, field: FieldNode, type: GraphQLNamedType): Price {
  const definition = fieldOf(type, field.name.value);
  const named = definition && getNamedType(definition.type);
  if (!definition) return NOTHING;
  const coordinate = `${type.name}.${field.name.value}`;
  const reads: PricedReads = { ...pricing, coordinate, definition, field };
  const filtered = filteredBy(pricing, type, field.name.value);
  // A mutation of several rows by a filter may answer with their number alone.
  if (!field.selectionSet || !isCompositeType(named))
    return filtered ? rowsReadBy(reads, filtered) : NOTHING;
  if (named.name.startsWith('__')) return NOTHING;
  const { selections } = field.selectionSet;
  // The connection has already counted its rows, so its edges and nodes are not counted again.
  if (isRowOf(type, definition)) return priceOf(pricing, selections, named);
  const list = listOf(pricing, type, field.name.value);
  const looks: PricedField = { ...reads, list, nested: nestedPage(pricing, type, list) };
  const size = numberOfIds(looks, type) ?? sizeOf(looks, named);
  const [rows, once] = isConnection(named)
    ? splitConnection(pricing, selections, named)
    : isAggregate(pricing, named)
      ? [NOTHING, priceOf(pricing, selections, named)]
      : [priceOf(pricing, selections, named), NOTHING];
  return sum([times(size, coordinate, rows), once, rowsReadBy(reads, list ?? filtered)]);
}

/** The most rows of a list that no size is asked for, apart from its own default. */
function nestedPage(
  { schema, nested = Infinity }: Tried,
  type: GraphQLNamedType,
  list: ListOptions | undefined,
): number {
  const isOurs = list !== undefined || isInterfaceType(type);
  return isOurs && type !== schema.getQueryType() ? nested : Infinity;
}

/** Numbers over rows, which looks at rows and makes one object. */
const isAggregate = ({ model }: Prices, { name }: GraphQLNamedType) =>
  name.endsWith('Aggregate') && model.objects.get(name)?.role === 'aggregate';

const isGroup = ({ model }: Prices, { name }: GraphQLNamedType) =>
  name.endsWith('Group') && model.objects.get(name)?.role === 'aggregate';

const isConnection = ({ name }: GraphQLNamedType) => name.endsWith('Connection');

/** `edges` and `nodes` of a connection, and the `node` of an edge. */
const isRowOf = (type: GraphQLNamedType, { type: of, name }: GraphQLField<unknown, unknown>) =>
  (isConnection(type) && hasList(of)) || (type.name.endsWith('Edge') && name === 'node');

const hasList = (type: GraphQLField<unknown, unknown>['type']) =>
  isListType(isNonNullType(type) ? type.ofType : type);

/**
 * Separates the selections of a connection that are repeated for each row from those that are not,
 * such as `pageInfo`.
 */
function splitConnection(
  pricing: Pricing,
  selections: readonly SelectionNode[],
  type: GraphQLNamedType,
): [Price, Price] {
  const isOnce = (selection: SelectionNode) => {
    const definition = selection.kind === 'Field' && fieldOf(type, selection.name.value);
    return definition && !isRowOf(type, definition);
  };
  return [
    priceOf(
      pricing,
      selections.filter((selection) => !isOnce(selection)),
      type,
    ),
    priceOf(
      pricing,
      selections.filter((selection) => isOnce(selection)),
      type,
    ),
  ];
}

/** A field and its arguments. */
interface PricedReads extends Tried {
  readonly coordinate: string;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly field: FieldNode;
}

/** What is read for a field, and how the model lists its rows. */
interface PricedField extends PricedReads {
  /** The model's list options; undefined for a single object and for functions of the user. */
  readonly list: ListOptions | undefined;
}

function listOf({ schema, model }: Prices, type: GraphQLNamedType, field: string) {
  const root = (['query', 'mutation', 'subscription'] as const).find(
    (kind) => schema.getRootType(kind as never) === type,
  );
  if (root) {
    const action = model.operations.get(`${ROOTS[root]}.${field}`)?.action;
    return action?.kind === 'list' ||
      action?.kind === 'listAbstract' ||
      action?.kind === 'aggregated'
      ? action.list
      : undefined;
  }
  const source = model.entities.get(type.name)?.fields.get(field)?.source;
  return source?.kind === 'many' || source?.kind === 'aggregated' ? source.list : undefined;
}

type Filtered = Partial<Pick<ListOptions, 'where' | 'orderBy'>>;

/**
 * The filter of a mutation of many, and that of a list of an interface: its members have one type.
 */
function filteredBy(prices: Prices, type: GraphQLNamedType, field: string): Filtered | undefined {
  const { schema, model } = prices;
  if (isInterfaceType(type)) {
    const lists = schema.getPossibleTypes(type).map((member) => listOf(prices, member, field));
    return lists.find((list) => list !== undefined);
  }
  if (type !== schema.getMutationType()) return undefined;
  const action = model.operations.get(`Mutation.${field}`)?.action;
  const many = action?.kind === 'updateMany' || action?.kind === 'removeMany';
  return many && action.where ? { where: action.where } : undefined;
}

const ROOTS = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

/** How many ids `nodes(ids:)` is given, or its cap: more are refused. Undefined for other fields. */
function numberOfIds(looked: PricedField, type: GraphQLNamedType): Amount | undefined {
  const { schema, model, definition, field } = looked;
  const isRoot = type === schema.getQueryType();
  const action = isRoot && model.operations.get(`Query.${field.name.value}`)?.action;
  const ids = action && action.kind === 'nodes' && argumentOf(definition, field, action.arg);
  // A single value is a list of one.
  return ids
    ? amountOf([ids], (given) => Math.min(given.flat().length, model.project.api.limits.list))
    : undefined;
}

const SIZES: readonly string[] = ['first', 'last', 'limit', 'take'];

/** The largest number of objects of the field, for each parent object. */
function sizeOf(looked: PricedField, named: GraphQLNamedType): Amount {
  const { definition, field, list, model, nested = Infinity } = looked;
  const cap = model.project.api.limits.list;
  if (isAggregate(looked, named) || isGroup(looked, named)) return cap;
  if (!list && !hasList(definition.type) && !isConnection(named)) return 1;
  const { max = Infinity, default: unsized = cap } = list?.paging ?? {};
  const names = list
    ? [list.paging.first, list.paging.last, list.paging.limit].filter((name) => name !== undefined)
    : SIZES;
  const tried = looked.sizes?.get(field);
  if (tried !== undefined) return tried;
  const argument = names.find((name) => definition.args.some((each) => each.name === name));
  if (argument !== undefined) looked.sized?.push({ field, argument });
  const sizes = names.flatMap((name) => argumentOf(definition, field, name) ?? []);
  return amountOf(sizes, (values) => {
    const given = values.find((value) => typeof value === 'number' && value >= 0);
    return Math.min(typeof given === 'number' ? given : Math.min(unsized, nested), max);
  });
}

/**
 * The rows that the filter, the order and the search of a field may read, for each parent object.
 */
function rowsReadBy(
  { coordinate, definition, field, model }: PricedReads,
  list: Filtered | undefined,
): Price {
  const cap = model.project.api.limits.list;
  const price = (name: string | undefined, cost: (value: unknown) => number): Price => {
    const given = name === undefined ? undefined : argumentOf(definition, field, name);
    if (!given) return NOTHING;
    return times(
      amountOf([given], ([value]) => (value === undefined || value === null ? 0 : cost(value))),
      coordinate,
      NOTHING,
    );
  };
  const { where, orderBy } = list ?? {};
  return sum([
    price(where?.arg, (value) => filterCost(model, where?.shape ?? '', value, cap)),
    price(orderBy?.arg, (value) => orderCost(model, orderBy?.shape ?? '', value, cap)),
    price('having', (value) => havingCost(value, cap)),
    price('search', () => cap),
  ]);
}

/**
 * The value of an argument with these variables, or its default in the schema; undefined when there
 * is neither.
 */
function argumentOf(
  { args }: GraphQLField<unknown, unknown>,
  field: FieldNode,
  name: string,
): { readonly constant: boolean; at(variables: Variables): unknown } | undefined {
  const declared = args.find((argument) => argument.name === name);
  if (!declared) return undefined;
  const given = field.arguments?.find((argument) => argument.name.value === name)?.value;
  const fallback: any = declared.default;
  const otherwise = fallback?.literal ? valueFromASTUntyped(fallback.literal) : fallback?.value;
  if (!given) return otherwise === undefined ? undefined : { constant: true, at: () => otherwise };
  const constant = !JSON.stringify(given, withoutPlaces).includes('"Variable"');
  return { constant, at: (variables) => valueFromASTUntyped(given, variables) ?? otherwise };
}

const withoutPlaces = (key: string, value: unknown) => (key === 'loc' ? undefined : value);

function amountOf(
  values: readonly { readonly constant: boolean; at(variables: Variables): unknown }[],
  amount: (values: readonly unknown[]) => number,
): Amount {
  const at = (variables: Variables) => amount(values.map((value) => value.at(variables)));
  return values.every(({ constant }) => constant) ? at({}) : at;
}

function fieldOf(type: GraphQLNamedType, field: string) {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[field] : undefined;
}
