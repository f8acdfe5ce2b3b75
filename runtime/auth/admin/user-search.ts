import { type RawBuilder, sql } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import type { AuthState } from '../state.ts';
import { isUserId, type UserId } from '../base/ids.ts';
import { conditions, type Form, type UserFilter } from './user-filter.ts';
import { foundBy, type Search, searchFor, textOf } from './user-keys.ts';
import { sortedUsers, type UserOrder } from './user-order.ts';

/** The query of `GET /api/auth/admin/users`. */
export interface UserQuery extends UserFilter {
  readonly q?: string;
  readonly sort?: UserOrder['sort'];
  readonly order?: UserOrder['direction'];
  readonly limit?: number;
  readonly cursor?: string;
}

/** A page of ids, and how many users there are in all; `next` is null on the last page. */
export interface UserPage {
  readonly ids: readonly UserId[];
  readonly next: string | null;
  readonly total: number;
}

/**
 * Where a page ends: the number of the key that was searched, the text that it has in the last row,
 * and the row's id. Without `q` only the id counts. In a sorted list the text is the value that it
 * is sorted by.
 */
type Position = readonly [key: number, text: string | number | null, id: UserId];

/** Up to this number of users, a page of them is sorted rather than read in order. */
const FEW = 1000;

/**
 * Finds one page of users. Its time hardly depends on the number of users: a sorted list is read
 * by the index of its order, and each key of a search in its own index.
 *
 * @throws AppError 400 for a cursor that this function did not give.
 */
export async function searchUsers(auth: AuthState, query: UserQuery): Promise<UserPage> {
  const limit = query.limit ?? 50;
  const after = query.cursor === undefined ? null : readCursor(auth, query.cursor);
  const search = searchFor(auth, query.q);
  const total = await countUsers(auth, query, search);
  const form: Form = total <= FEW ? 'list' : 'test';
  const read = query.sort || query.order ? inOrder : search ? inOrderOfKeys : byId;
  const found = await read(auth, query, { search, after, form, count: limit + 1 });
  const page = found.slice(0, limit);
  const next = found.length > limit ? writeCursor(page.at(-1)!) : null;
  return { ids: page.map(([, , id]) => id), next, total };
}

/** Which part of a list is read. */
interface Part {
  readonly search: Search | null;
  readonly after: Position | null;
  readonly form: Form;
  readonly count: number;
}

async function inOrder(
  auth: AuthState,
  query: UserQuery,
  { search, after, form, count }: Part,
): Promise<Position[]> {
  const { sort = 'created_at', order = 'asc' } = query;
  const last = after && ([after[1], after[2]] as const);
  const wanted = { conditions: conditions(auth, query, form, search), after: last, count };
  const rows = await sortedUsers(auth, { sort, direction: order }, wanted);
  return rows.map(([value, id]) => [0, value, id]);
}

async function byId(
  auth: AuthState,
  query: UserQuery,
  { after, form, count }: Part,
): Promise<Position[]> {
  const rows = await sql<{ id: UserId }>`select u.id from ${sql.raw(auth.directory.rows)} u
    left join auth_users a on a.user_id = u.id
    where ${conditions(auth, query, form)} ${after ? sql`and u.id > ${after[2]}` : sql``}
    order by u.id limit ${sql.lit(count)}`.execute(auth.db);
  return rows.rows.map(({ id }) => [0, '', id]);
}

/** Searches one key after the other. A user is listed under the first key that matches. */
async function inOrderOfKeys(
  auth: AuthState,
  query: UserQuery,
  { search, after, count }: Part,
): Promise<Position[]> {
  const found: Position[] = [];
  const keys = search?.keys.length ?? 0;
  for (let key = after?.[0] ?? 0; key < keys && found.length < count; key += 1) {
    const from = after?.[0] === key ? after : null;
    const need = count - found.length;
    found.push(...(await byKey(auth, query, { search: search!, key, from, need })));
  }
  return found;
}

async function byKey(
  auth: AuthState,
  query: UserQuery,
  { search, key, from, need }: { search: Search; key: number; from: Position | null; need: number },
): Promise<Position[]> {
  const { tables, condition } = foundBy(auth, search, key);
  const text = textOf(auth, search.keys[key]!);
  const id = sql.ref(search.keys[key]!.table === 'auth_users' ? 'a.user_id' : 'u.id');
  const beyond = from
    ? sql`and (${text} > ${from[1]} or (${text} = ${from[1]} and ${id} > ${from[2]}))`
    : sql``;
  const { rows } = await sql<{ id: UserId; text: string }>`select ${id} as id, ${text} as text
    from ${tables}
    where ${condition} and ${conditions(auth, query, 'test')} ${beyond}
    order by ${text}, ${id} limit ${sql.lit(need)}`.execute(auth.db);
  return rows.map((row) => [key, row.text, row.id]);
}

const isPlainText = (value: unknown) => typeof value === 'string' && !value.includes('\0');

const writeCursor = (position: Position): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function readCursor(auth: AuthState, text: string): Position {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const [key, from, id] = value;
    const fits = isUserId(id) && (typeof id === 'string') === (auth.project.ids === 'uuid');
    const isValue = from === null || Number.isSafeInteger(from) || isPlainText(from);
    if (fits && isValue && Number.isSafeInteger(key) && (key as number) >= 0)
      return [key as number, from as Position[1], id];
  } catch {
    // The error below explains it.
  }
  throw failure.badRequest('cursor is not one that this list gave');
}

/** The number of users that a filter and a search find, by one statement that reads indexes. */
export async function countUsers(
  auth: AuthState,
  filter: UserFilter,
  search: Search | null,
): Promise<number> {
  const sums = search
    ? search.keys.map((_, index) => countOfKey(auth, filter, search, index))
    : [countOfFilter(auth, filter)];
  const statement = sql<{ total: number | string }>`select ${sql.join(sums, sql` + `)} as total`;
  const { rows } = await statement.execute(auth.db);
  return Number(rows[0]?.total ?? 0);
}

function countOfKey(
  auth: AuthState,
  filter: UserFilter,
  search: Search,
  index: number,
): RawBuilder<unknown> {
  const { tables, condition } = foundBy(auth, search, index);
  return sql`(select count(*) from ${tables}
    where ${condition} and ${conditions(auth, filter, 'test')})`;
}

function countOfFilter(auth: AuthState, filter: UserFilter): RawBuilder<unknown> {
  const isOfSide = filter.state === 'active' || filter.state === 'unverified';
  const side = isOfSide ? sql`left join auth_users a on a.user_id = u.id` : sql``;
  return sql`(select count(*) from ${sql.raw(auth.directory.rows)} u ${side}
    where ${conditions(auth, filter, 'list')})`;
}
