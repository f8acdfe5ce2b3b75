import { STEP_FUNCTION } from '../store/bounds.ts';
import { sql, type Sql } from './sql/fragment.ts';
import type { ConnectionPart, Link, Order, Planned, Selection } from './plan.ts';
import type { EntityModel } from './model.ts';
import { reference, type Scope } from './sql/scope.ts';
import type { Access } from './access/row-condition.ts';
import type { ListOptions } from '@twofold/schema';

/** A list, or a connection, and the selection of its rows. */
interface SelectedList extends Listed {
  readonly selection?: Selection;
  readonly fields?: readonly ConnectionPart[];
}

/** Rows that a list without nested lists may have and still count as short. */
const SHORT_LIST = 1000;

/**
 * Whether reading a page may take long: when it may look at more rows than the page has, or when
 * its rows have lists. Short are only the first rows of a table or of a parent, in the order of
 * their keys.
 */
export function isLong(scope: Scope, listed: SelectedList): boolean {
  const call = scope.calls[listed.call];
  const { order = [], equals = [], page, where, search, distinct } = call ?? {};
  return (
    search !== undefined ||
    where !== undefined ||
    equals.length > 0 ||
    distinct !== undefined ||
    listed.list.condition !== undefined ||
    order.some((each) => !isOfKey(scope, listed, each)) ||
    (page?.offset ?? 0) > 0 ||
    listed.list.paging.max > SHORT_LIST ||
    hidesRows(scope, listed) ||
    !isIndexed(scope, listed.link) ||
    selectionsOf(listed).some(hasLists)
  );
}

const isOfKey = ({ model }: Scope, { entity }: Listed, { column, path, tally }: Order) =>
  path === undefined && tally === undefined && model.entity(entity).key.includes(column);

function hidesRows(scope: Scope, { entity: name, access }: Listed): boolean {
  const { entity } = scope.model.entity(name);
  if (entity.softDelete) return true;
  return (access ?? scope.rules.entity(entity, 'READ')).kind !== 'all';
}

/** Entries of an index on a foreign key are sorted by the primary key, if that is an integer. */
const isIndexed = ({ model }: Scope, link: Link | undefined) =>
  !link || (link.kind === 'column' && !link.of && model.ids === 'integer');

const selectionsOf = ({ selection, fields = [] }: SelectedList): readonly Selection[] =>
  selection ? [selection] : nodeSelections(fields);

/** What a connection shows of its rows. */
export const nodeSelections = (parts: readonly ConnectionPart[]): readonly Selection[] =>
  parts.flatMap((part) => {
    if (part.kind === 'nodes') return [part.selection];
    if (part.kind !== 'edges') return [];
    return part.fields.flatMap((field) => (field.kind === 'node' ? [field.selection] : []));
  });

/** Whether any field of an object is a list, or holds one. */
export const hasLists = ({ fields }: Selection): boolean => fields.some(isOrHasList);

function isOrHasList(field: Planned): boolean {
  switch (field.kind) {
    case 'many':
    case 'connection':
    case 'aggregated':
      return true;
    case 'one':
      return hasLists(field.selection);
    case 'abstract':
      return field.members.some(({ selection }) => hasLists(selection));
    default:
      return false;
  }
}

/**
 * A condition that is always true and allows the server to end the statement: it is evaluated in
 * the loop over the rows of `alias`. A call costs as much as finding a row, so only every 17th key
 * makes one, or every 17th row or so. 17 is prime because keys may come in steps of 2, 10 or 16.
 */
export function watched(scope: Scope, entity: EntityModel, alias: string): Sql | undefined {
  scope.watch();
  if (scope.dialect === 'postgres') return undefined;
  return hasIntegerKey(scope, entity)
    ? sql`${reference(entity, alias, 'id')} % 17 or ${STEP_FUNCTION}()`
    : sql`random() % 17 or ${STEP_FUNCTION}()`;
}

/**
 * The same for sorted rows: where the order counts related rows, that takes longer than a call, so
 * each row is watched.
 */
export function watchedInOrder(
  scope: Scope,
  entity: EntityModel,
  { alias, order }: { readonly alias: string; readonly order: readonly Order[] },
): Sql | undefined {
  const plain = watched(scope, entity, alias);
  return plain && order.some(({ tally }) => tally !== undefined) ? sql`${STEP_FUNCTION}()` : plain;
}

function hasIntegerKey({ model }: Scope, { key, columns }: EntityModel): boolean {
  const id = columns.get('id');
  return key[0] === 'id' && (id?.key ?? model.ids) === 'integer' && !model.project.unmanaged;
}

/** The options that lists, connections and counts have in common. */
export interface Listed {
  readonly entity: string;
  readonly link?: Link;
  readonly list: ListOptions;
  readonly call: number;
  readonly access?: Access;
}
