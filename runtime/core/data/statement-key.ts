import { LONGEST_PART } from './words/comparison.ts';
import { isInsensitive } from './filter/words-condition.ts';
import type { Call, GroupCall, Order, Page } from './plan.ts';
import { type BoundedCache, createBoundedCache } from '../store/bounded-cache.ts';
import type { Statement } from './sql/fragment.ts';

/**
 * A text that is equal for two sets of calls when one statement serves both. It contains what
 * decides the SQL, and no values.
 *
 * @example statementKey([{ equals: [{ column: 'name', value: 'Ada' }], order: [] }], false) // '|;name=v'
 */
export function statementKey(calls: readonly Call[], tree: boolean): string {
  let key = tree ? 'tree' : '';
  for (const call of calls) key += `|${callKey(call)}`;
  return key;
}

/** The order by the key alone, which most lists have. */
const isByKey = ([first, ...more]: Call['order']) =>
  more.length === 0 &&
  (!first || (first.column === 'id' && !first.descending && !first.nulls && !first.path));

const orderKey = ({ column, descending, nulls, path = [], tally = '' }: Order): string =>
  `${[...path, column].join('.')}${tally && `#${tally}`}${descending ? '-' : '+'}${nulls ?? ''}`;

function callKey({
  equals,
  where,
  order,
  search,
  page,
  targets,
  keys,
  distinct,
  groups,
  lock,
}: Call): string {
  let key = keys ? ';keys' : '';
  for (const { column, value } of equals) key += `;${column}${value === null ? '=n' : '=v'}`;
  if (where !== undefined) key += `;${valueKey(where)}`;
  if (search) key += `;search ${search.kind} ${search.weights.join()} ${search.size}`;
  if (!isByKey(order)) key += `;${order.map(orderKey).join()}`;
  if (distinct) key += `;distinct ${distinct.join()}`;
  if (page) key += pageKey(page);
  if (lock) key += `;lock ${lock}`;
  if (groups) key += groupsKey(groups);
  return targets ? `${key};${[...new Set(targets.map(({ type }) => type))].sort().join()}` : key;
}

function pageKey({ backwards, offset, constant, limit, after, before }: Page): string {
  let key = backwards ? ';backwards' : '';
  if (offset > 0) key += ';offset';
  if (constant) key += `;limit${limit}`;
  if (after) key += `;after${valueKey(after)}`;
  if (before) key += `;before${valueKey(before)}`;
  return key;
}

const groupsKey = ({ keys, having, order }: GroupCall): string =>
  `;by${keys.map(({ column, unit = '' }) => `${column} ${unit}`).join()};having${valueKey(having)};${order
    .map(({ of, column = '', descending, nulls = '' }) => `${of} ${column} ${descending} ${nulls}`)
    .join()}`;

/** Whether a text in a filter is too long. It is checked before a statement is made for it. */
const isLong = (value: unknown) => typeof value === 'string' && value.length > LONGEST_PART;

/**
 * Keys and nulls of an input. The values of `isNull`, `isEmpty` and `mode` are included, because
 * they are written as SQL.
 */
function valueKey(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value !== 'object') return isLong(value) ? 'w' : 'v';
  if (Array.isArray(value))
    return value.every((item) => item !== null && typeof item !== 'object')
      ? 'l'
      : `[${value.map(valueKey).join()}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => (item === undefined ? '' : `${nameKey(key)}:${memberKey(key, item)}`))
    .join()}}`;
}

/**
 * JSON in a filter has keys that the caller chooses, which must not look like the key of another
 * input.
 */
const nameKey = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));

const memberKey = (name: string, value: unknown): string =>
  name === 'mode' && isInsensitive(value) ? 'i' : valueKey(value);

/**
 * Statements by plan node and by the key of the arguments. They are dropped together with their
 * plan, or when there are too many.
 */
interface StatementCache {
  /**
   * Returns the statement of `node` for arguments with this key, and makes it when it is missing.
   */
  get(node: object, key: string, make: () => Statement): Statement;
  /** Total length of the cached statements in characters; for tests and metrics. */
  readonly held: number;
}

/** A client that varies its filters makes many statements, and a wide selection makes long ones. */
const BOUNDS = { keys: 32, characters: 8_000_000 };

/**
 * When the limit of characters is reached, all statements are dropped. Making one again takes
 * microseconds, and tracking which was used least would cost as much on every request.
 *
 * @example statements.get(plan.node, statementKey(calls, false), () => rootStatement(scope, plan.node)).text
 */
export function createStatementCache({ keys, characters } = BOUNDS): StatementCache {
  let statements = new WeakMap<object, BoundedCache<Statement>>();
  let held = 0;
  const statementsOf = (node: object) => {
    const found =
      statements.get(node) ?? createBoundedCache<Statement>({ entries: keys, bytes: characters });
    statements.set(node, found);
    return found;
  };
  const keep = (node: object, key: string, statement: Statement) => {
    held += statement.text.length;
    if (held > characters) {
      statements = new WeakMap();
      held = statement.text.length;
    }
    statementsOf(node).set(key, statement, statement.text.length);
    return statement;
  };
  return {
    get held() {
      return held;
    },
    get: (node, key, make) => statements.get(node)?.get(key) ?? keep(node, key, make()),
  };
}
