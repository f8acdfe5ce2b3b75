import type { ColumnType, FilterOperator, Operation } from '../model.ts';
import { isComparable, restMembers, type RestMember } from './members.ts';
import { knownScalar } from '../scalars.ts';
import type { RestModule } from './modules.ts';

/** A filter in a query string. */
export interface RestFilter {
  /** `title`, `title_contains` */
  readonly parameter: string;
  readonly member: RestMember;
  readonly operator: FilterOperator;
}

/**
 * Parameters of the query string that are not filters; a field of such a name is filtered as
 * `order_eq`.
 */
export const RESERVED: ReadonlySet<string> = new Set([
  'page',
  'limit',
  'sort',
  'order',
  'include',
  'fields',
]);

const EQUALITY: readonly FilterOperator[] = ['eq', 'ne', 'in', 'notIn'];
const ORDER: readonly FilterOperator[] = ['lt', 'lte', 'gt', 'gte'];
const TEXT: readonly FilterOperator[] = ['contains', 'startsWith', 'endsWith'];

/**
 * The operators of a column of this type.
 *
 * @example operatorsOf('boolean', false) // ['eq', 'ne', 'in', 'notIn']
 */
function operatorsOf(type: ColumnType, closed: boolean): readonly FilterOperator[] {
  if (closed || type === 'boolean' || type === 'uuid') return EQUALITY;
  return type === 'text' ? [...EQUALITY, ...ORDER, ...TEXT] : [...EQUALITY, ...ORDER];
}

/**
 * Every filter of a module's list, by parameter. `own`: the user's function answers the list, so
 * only its declared arguments are known to filter.
 *
 * @example
 * restFilters(module).get('title_contains') // { parameter: 'title_contains', member: …, operator: 'contains' }
 */
export function restFilters(
  { entity, list }: RestModule,
  own = false,
): ReadonlyMap<string, RestFilter> {
  const filters = new Map<string, RestFilter>();
  if (list?.action.kind !== 'list') return filters;
  const members = [...restMembers(entity).values()]
    .filter(isComparable)
    .filter((member) => isFilterable(list, member));
  const add = (parameter: string, member: RestMember, operator: FilterOperator) => {
    const taken =
      RESERVED.has(parameter) || (parameter === SEARCH && isSearched({ entity, list }, own));
    if (!taken && !filters.has(parameter)) filters.set(parameter, { parameter, member, operator });
  };
  if (own) return (addArguments(list, members, add), filters);
  // A field may be called `price_in`: a field's own name takes precedence over the suffix of
  // another's.
  for (const member of members) add(member.name, member, 'eq');
  for (const member of members)
    for (const operator of memberOperators(member))
      add(`${member.name}_${operator}`, member, operator);
  return filters;
}

function addArguments(
  { action }: Operation,
  members: readonly RestMember[],
  add: (parameter: string, member: RestMember, operator: FilterOperator) => void,
): void {
  if (action.kind !== 'list') return;
  for (const { arg, column } of action.list.filters) {
    const member = members.find((candidate) => candidate.column?.name === column);
    if (member) add(arg, member, 'eq');
  }
}

/** `@list(filter:)` may restrict the columns that a caller filters by. */
function isFilterable({ action }: Operation, { column }: RestMember): boolean {
  return (
    action.kind !== 'list' ||
    !action.list.filterable ||
    action.list.filterable.includes(column?.name ?? '')
  );
}

/**
 * The operators of a member. The order of a user's own scalar is unknown, so it has no range
 * operators.
 */
export function memberOperators({ kind, field, column }: RestMember): readonly FilterOperator[] {
  const closed = kind === 'key' || field.type.kind === 'enum' || !knownScalar(field.type.name);
  const nullable = column !== undefined && !column.required;
  return [
    ...operatorsOf(column?.type ?? 'text', closed),
    ...(nullable ? (['isNull'] as const) : []),
  ];
}

/** The parameter with the words that rows must have. */
const SEARCH = 'search';

/** Whether a module's list can be searched. A function of the user would not know how to. */
export function isSearched(
  { entity, list }: Pick<RestModule, 'entity' | 'list'>,
  own = false,
): boolean {
  return !own && entity.search !== undefined && list?.action.kind === 'list';
}

/** Names of the members that a list may be sorted by. */
export function restSorts({ entity, list }: RestModule, own = false): readonly string[] {
  if (own || list?.action.kind !== 'list') return [];
  return [...restMembers(entity).values()].filter(isComparable).map(({ name }) => name);
}

/** The page size when the caller gives none: the value of `@list(default:)`, or 20. */
export function defaultPageSize({ action }: Operation): number {
  if (action.kind !== 'list') return 20;
  const { paging } = action.list;
  return paging.default < paging.max ? paging.default : Math.min(20, paging.max);
}
