import type {
  Action,
  Aggregated,
  AggregatedRelation,
  ArgumentPath,
  ChangeKind,
  Condition,
  Connection,
  FieldSource,
  Grouping,
  JoinKey,
  ListOptions,
  Many,
  One,
  Returns,
  RowKey,
  Tally,
} from '@twofold/schema';
import { impliedList, paged } from '@twofold/schema';

/**
 * How each field is answered, by type and field. A field that is missing here is a column, or a
 * property of the parent.
 */
export type FieldTable = Readonly<Record<string, Readonly<Record<string, Action | FieldSource>>>>;

/** The limits, filters and orders of a list. */
export interface ListArguments {
  /** The most rows of one page. */
  readonly max: number;
  /** Its arguments and types are those that `api.crud` writes for a list, or for a connection. */
  readonly crud?: 'list' | 'connection';
  /** How many rows are returned when the caller gives no number; `max` when absent. */
  readonly default?: number;
  /** Argument → column: filters by equality. */
  readonly filters?: Readonly<Record<string, string>>;
  readonly where?: { readonly arg: string; readonly shape: string };
  readonly orderBy?: { readonly arg: string; readonly shape: string };
  /** The argument with the words that rows must have. */
  readonly search?: string;
  /** Paging argument → its name in the schema. */
  readonly page?: Readonly<
    Partial<Record<'limit' | 'offset' | 'first' | 'after' | 'last' | 'before', string>>
  >;
  /** Whether the list has arguments that page it beside those that the schema declares. */
  readonly paged?: boolean;
  readonly connection?: Connection;
  /** Columns that the user's filters may name. */
  readonly filterable?: readonly string[];
  /** The argument that leaves one row of each combination, and value → column. */
  readonly distinct?: NonNullable<ListOptions['distinct']>;
  /** The condition that every row must meet: `@list(where:)`. */
  readonly condition?: Condition;
  /** `['created_at desc', 'id']`; by the key when absent. */
  readonly order?: readonly string[];
}

/** One row, by its key or by columns. @example user: get('User', { id: 'id' }) */
export function get(
  entity: string,
  by: Readonly<Record<string, string>>,
  { unique = true }: { unique?: boolean } = {},
): Action {
  return {
    kind: 'get',
    entity,
    by: Object.entries(by).map(([arg, column]) => ({ arg, column })),
    unique,
  };
}

/** The caller's own row, or null without a sign-in. @example me: caller('User') */
export function caller(entity: string): Action {
  return { kind: 'caller', entity };
}

/** Rows of an entity. @example users: list('User', { max: 100, filters: { role: 'role' } }) */
export function list(entity: string, given: ListArguments): Action {
  return { kind: 'list', entity, list: listOptions(given, entity) };
}

/** Rows of every member of an interface or union. */
export function listAbstract(type: string, given: ListArguments): Action {
  return { kind: 'listAbstract', type, list: listOptions(given, type) };
}

/** Any entity by its global id. @example node: node('id') */
export function node(arg: string): Action {
  return { kind: 'node', arg };
}

/** Any entities by their global ids. @example nodes: nodes('ids') */
export function nodes(arg: string): Action {
  return { kind: 'nodes', arg };
}

type ShortReturns =
  | 'entity'
  | 'id'
  | 'boolean'
  | 'rows'
  | 'count'
  | Omit<Extract<Returns, { kind: 'payload' }>, 'kind'>;

/** The options of an action, with its answer in the short form. `write`: an entry of `model.writes`. */
type ArgumentsOf<Kind extends Action['kind']> = Omit<
  Extract<Action, { kind: Kind }>,
  'kind' | 'entity' | 'returns'
> & { readonly returns?: ShortReturns };

const write =
  <Kind extends 'create' | 'upsert' | 'createMany' | 'updateMany' | 'removeMany'>(kind: Kind) =>
  (entity: string, { returns, ...given }: ArgumentsOf<Kind>): Action =>
    ({ kind, entity, ...given, returns: returnsOf(returns) }) as Action;

/**
 * Inserts a row.
 *
 * @example createUser: create('User', { write: 'CreateUserInput:User', input: 'input' })
 */
export const create = write('create');

/**
 * Changes the given columns of a row. `key` is the path of the id in the arguments: `['id']`,
 * `['input', 'id']`; or its unique keys: `[{ slug: 'slug' }]`.
 */
export function update(
  entity: string,
  key: ArgumentPath | RowKey,
  { returns, ...rest }: ArgumentsOf<'create'>,
): Action {
  return { kind: 'update', entity, ...whichOf(key), ...rest, returns: returnsOf(returns) };
}

/** Deletes a row. @example deleteUser: remove('User', ['id'], { returns: 'boolean' }) */
export function remove(
  entity: string,
  key: ArgumentPath | RowKey,
  { returns, ...rest }: { readonly returns?: ShortReturns; readonly version?: string } = {},
): Action {
  return { kind: 'remove', entity, ...whichOf(key), ...rest, returns: returnsOf(returns) };
}

const whichOf = (key: ArgumentPath | RowKey) =>
  typeof key[0] === 'string' ? { id: key as ArgumentPath } : { by: key as RowKey };

/**
 * Updates the row with the key, or creates it.
 *
 * @example upsertTag: upsert('Tag', { by: [{ 'where.name': 'name' }], create: { write: 'NewTag:Tag', input: 'create' }, update: { write: 'TagPatch:Tag', input: 'update' } })
 */
export const upsert = write('upsert');

/** Inserts several rows. @example createTags: createMany('Tag', { write: 'NewTag:Tag', input: 'input', returns: 'rows' }) */
export const createMany = write('createMany');

/**
 * Changes the rows of a filter.
 *
 * @example updateTags: updateMany('Tag', { where: { arg: 'where', shape: 'TagFilter' }, write: 'TagPatch:Tag', input: 'input', returns: 'count' })
 */
export const updateMany = write('updateMany');

/** Deletes several rows. @example deleteTags: removeMany('Tag', { ids: 'ids', returns: 'count' }) */
export const removeMany = write('removeMany');

/** Sends changes as they happen. @example userCreated: subscribe('User', ['created']) */
export function subscribe(
  entity: string,
  on: readonly ChangeKind[],
  { id }: { readonly id?: string } = {},
): Action {
  return { kind: 'subscribe', entity, on, ...(id !== undefined && { id }) };
}

/** A field that the user's resolver answers. Without a resolver it fails with `NOT_IMPLEMENTED`. */
export function custom(): { readonly kind: 'custom' } {
  return { kind: 'custom' };
}

/** The row that a key refers to. @example author: one('User', 'author_id') */
export function one(
  entity: string,
  column: string,
  given: Partial<Pick<One, 'key' | 'inverse' | 'to' | 'typeColumn'>> = {},
): One {
  return { kind: 'one', entity, key: 'own', column, ...given };
}

/**
 * The rows that refer to this row: by one of their columns, or through a join table.
 *
 * @example posts: many('Post', 'author_id', { max: 100 })
 */
export function many(
  entity: string,
  via: string | Many['via'],
  { inverse, ...given }: ListArguments & { readonly inverse?: string },
): Many {
  return {
    kind: 'many',
    entity,
    via: typeof via === 'string' ? { kind: 'column', column: via } : via,
    ...(inverse !== undefined && { inverse }),
    list: listOptions(given, entity),
  };
}

/**
 * The options of numbers over rows. `via` says how the rows of a relation belong to their parent.
 */
type AggregatedArguments = Omit<ListArguments, 'orderBy'> & { readonly via?: string | Many['via'] };

type AggregatedBy<Given> = Given extends { readonly via: unknown }
  ? AggregatedRelation
  : Aggregated;

/**
 * Numbers over all rows, or over those of a relation.
 *
 * @example postsAggregate: aggregate('Post', { where: { arg: 'where', shape: 'PostFilter' }, max: 100 })
 */
export function aggregate<Given extends AggregatedArguments>(
  entity: string,
  given: Given,
): AggregatedBy<Given> {
  const { via, ...rest } = given;
  const list = listOptions(rest as ListArguments, entity);
  return { kind: 'aggregated', entity, list, ...viaOf(via) } as AggregatedBy<Given>;
}

/**
 * Numbers over groups of rows that are equal in some fields.
 *
 * @example postsGroups: groups('Post', { by: { arg: 'by', values: { STATUS: 'status' } }, max: 100 })
 */
export function groups<Given extends AggregatedArguments & Grouping>(
  entity: string,
  { by, having, orderBy, ...given }: Given,
): AggregatedBy<Given> {
  const grouping: Grouping = {
    by,
    ...(having !== undefined && { having }),
    ...(orderBy !== undefined && { orderBy }),
  };
  return {
    ...aggregate(entity, given as AggregatedArguments),
    groups: grouping,
  } as AggregatedBy<Given>;
}

const viaOf = (via: string | Many['via'] | undefined) =>
  via === undefined
    ? {}
    : { via: typeof via === 'string' ? ({ kind: 'column', column: via } as const) : via };

/** How well a row fits the search of its list, from 0 to 1. @example rank: searchRank() */
export function searchRank(): Extract<FieldSource, { of: 'rank' }> {
  return { kind: 'search', of: 'rank' };
}

/**
 * The text of a column around the words that were found, as HTML. @example excerpt:
 * searchHighlight('body')
 */
export function searchHighlight(column: string): Extract<FieldSource, { of: 'highlight' }> {
  return { kind: 'search', of: 'highlight', column };
}

/** How many related rows there are. @example commentsCount: count('Comment', 'comments') */
export function count(entity: string, relation: string, where?: Condition): Tally {
  return { kind: 'tally', of: 'count', entity, relation, ...(where && { where }) };
}

/** Whether there are related rows. @example favorited: exists('User', 'favoritedBy', { kind: 'compare', column: 'id', operator: 'eq', caller: true }) */
export function exists(entity: string, relation: string, where?: Condition): Tally {
  return { kind: 'tally', of: 'exists', entity, relation, ...(where && { where }) };
}

/**
 * A key that may refer to several types, with the column that names the type. @example
 * viaType('pet_id', 'pet_type')
 */
export function viaType(
  column: string,
  typeColumn: string,
): Extract<Many['via'], { kind: 'column' }> {
  return { kind: 'column', column, typeColumn };
}

/**
 * A join table: the column or columns with our key, and those with the other side's key. A managed
 * one is made and written by a capability.
 *
 * @example through('post_tags', 'post_id', 'tag_id')
 */
export function through(
  table: string,
  own: JoinKey,
  other: JoinKey,
  given?: 'managed' | { readonly schema: string },
): Extract<Many['via'], { kind: 'table' }> {
  const more = given === 'managed' ? { managed: true as const } : given;
  return { kind: 'table', table, own, other, ...more };
}

function listOptions({ crud, ...words }: ListArguments, entity: string): ListOptions {
  const given: ListArguments = crud ? { ...impliedList(entity, crud), ...words } : words;
  const { max, default: size = max, page, filters = {}, order = ['id'], ...others } = given;
  const { paged: isPaged, ...same } = others;
  const list: ListOptions = {
    ...same,
    filters: Object.entries(filters).map(([arg, column]) => ({ arg, column })),
    paging: { ...page, default: size, max },
    order: order.map((text) => ({
      column: text.replace(/ desc$/, ''),
      descending: text.endsWith(' desc'),
    })),
  };
  return isPaged ? paged(list) : list;
}

function returnsOf(given: ShortReturns = 'entity'): Returns {
  return typeof given === 'string' ? { kind: given } : { kind: 'payload', ...given };
}
