import { type RawBuilder, sql } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { isUserId, parseUserId, type UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { folded } from '@twofold/runtime/kernel';
import { sortedUsers, type UserOrder } from './user-order.ts';
import { type SearchKey, searchKeys, searchText } from './search-keys.ts';

/** The query of `GET /api/auth/admin/users`. */
export interface UserQuery {
  readonly q?: string;
  readonly role?: string;
  readonly organization?: string;
  readonly state?: 'active' | 'disabled' | 'locked' | 'unverified' | 'deleted';
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

/** A search for one text, with the ranges in which keys begin with it. */
interface Search {
  readonly keys: readonly SearchKey[];
  readonly ranges: readonly (readonly [from: string, to: string])[];
}

/**
 * Finds one page of users. The time does not depend on the number of users: a sorted list is read
 * by the index of its order, and each key of a search in its own index.
 *
 * @throws AppError 400 for a cursor that this function did not give.
 */
export async function searchUsers(parts: AuthParts, query: UserQuery): Promise<UserPage> {
  const limit = query.limit ?? 50;
  const after = query.cursor === undefined ? null : readCursor(parts, query.cursor);
  const q = (query.q ?? '').trim().replaceAll('\0', '');
  const search = q === '' ? null : { keys: searchKeys(parts.model.user), ranges: rangesOf(q) };
  const found = await (query.sort || query.order
    ? sorted(parts, query, { search, after, count: limit + 1 })
    : inOrderOfKeys(parts, query, { search, after, count: limit + 1 }));
  const page = found.slice(0, limit);
  const next = found.length > limit ? writeCursor(page.at(-1)!) : null;
  return { ids: page.map(([, , id]) => id), next, total: await countUsers(parts, query, search) };
}

/** The part of a list that is wanted. */
interface Part {
  readonly search: Search | null;
  readonly after: Position | null;
  readonly count: number;
}

async function sorted(
  parts: AuthParts,
  query: UserQuery,
  { search, after, count }: Part,
): Promise<Position[]> {
  const { sort = 'created_at', order = 'asc' } = query;
  const last = after && ([after[1], after[2]] as const);
  const wanted = { conditions: conditions(parts, query, search), after: last, count };
  const rows = await sortedUsers(parts, { sort, direction: order }, wanted);
  return rows.map(([value, id]) => [0, value, id]);
}

/** Searches one key after the other. A user is listed under the first key that matches. */
async function inOrderOfKeys(
  parts: AuthParts,
  query: UserQuery,
  { search, after, count }: Part,
): Promise<Position[]> {
  if (!search) return byId(parts, query, after, count);
  const found: Position[] = [];
  for (let key = after?.[0] ?? 0; key < search.keys.length && found.length < count; key += 1) {
    const from = after?.[0] === key ? after : null;
    found.push(...(await byKey(parts, query, { search, key, from, need: count - found.length })));
  }
  return found;
}

async function countUsers(
  parts: AuthParts,
  query: UserQuery,
  search: Search | null,
): Promise<number> {
  const isNarrowed = query.role !== undefined || query.state !== undefined;
  const { rows } = await sql<{ total: number | string }>`select count(*) as total
    from ${sql.table(parts.directory.table)} u
    ${isNarrowed ? sql`left join auth_users a on a.user_id = u.id` : sql``}
    where ${conditions(parts, query, search)}`.execute(parts.kernel.store.db);
  return Number(rows[0]?.total ?? 0);
}

/** The ids of all users who match a search, by the indexes of its keys. */
function matching(parts: AuthParts, { keys, ranges }: Search): RawBuilder<unknown> {
  const each = keys.flatMap((key) => {
    const isSide = key.table === 'auth_users';
    const text = searchText(parts.kernel.store.dialect, key);
    const id = sql.ref(isSide ? 'user_id' : 'id');
    return ranges.map(
      ([low, high]) =>
        sql`select ${id} from ${sql.table(key.table)} where ${text} >= ${low} and ${text} < ${high}`,
    );
  });
  return sql.join(each, sql` union `);
}

async function byId(
  parts: AuthParts,
  query: UserQuery,
  after: Position | null,
  count: number,
): Promise<Position[]> {
  const { table } = parts.directory;
  const rows = await sql<{ id: UserId }>`select u.id from ${sql.table(table)} u
    left join auth_users a on a.user_id = u.id
    where ${conditions(parts, query)} ${after ? sql`and u.id > ${after[2]}` : sql``}
    order by u.id limit ${sql.lit(count)}`.execute(parts.kernel.store.db);
  return rows.rows.map(({ id }) => [0, '', id]);
}

async function byKey(
  parts: AuthParts,
  query: UserQuery,
  { search, key, from, need }: { search: Search; key: number; from: Position | null; need: number },
): Promise<Position[]> {
  const { dialect, db } = parts.kernel.store;
  const { table } = parts.directory;
  const isSide = search.keys[key]!.table === 'auth_users';
  const text = textOf(parts, search.keys[key]!);
  const id = sql.ref(isSide ? 'a.user_id' : 'u.id');
  const matches = (each: RawBuilder<string>) =>
    sql`(${sql.join(
      search.ranges.map(([low, high]) => sql`(${each} >= ${low} and ${each} < ${high})`),
      sql` or `,
    )})`;
  const earlier = search.keys
    .slice(0, key)
    .map((each) => sql`and not coalesce(${matches(textOf(parts, each))}, ${falseOf(dialect)})`);
  const tables = isSide
    ? sql`auth_users a join ${sql.table(table)} u on u.id = a.user_id`
    : sql`${sql.table(table)} u left join auth_users a on a.user_id = u.id`;
  const beyond = from
    ? sql`and (${text} > ${from[1]} or (${text} = ${from[1]} and ${id} > ${from[2]}))`
    : sql``;
  const { rows } = await sql<{ id: UserId; text: string }>`select ${id} as id, ${text} as text
    from ${tables}
    where ${matches(text)} ${sql.join(earlier, sql` `)} and ${conditions(parts, query)} ${beyond}
    order by ${text}, ${id} limit ${sql.lit(need)}`.execute(db);
  return rows.map((row) => [key, row.text, row.id]);
}

const falseOf = (dialect: string) => (dialect === 'postgres' ? sql`false` : sql`0`);

const textOf = ({ kernel }: AuthParts, key: SearchKey) =>
  searchText(kernel.store.dialect, key, key.table === 'auth_users' ? 'a' : 'u');

/**
 * The ranges of texts that begin with `q`. SQLite folds only ASCII letters, so that other letters
 * are searched as typed, in lower case, capitalised and in upper case.
 */
function rangesOf(q: string): (readonly [string, string])[] {
  const lower = q.toLowerCase();
  const [first = ''] = lower;
  const variants = [q, lower, first.toUpperCase() + lower.slice(first.length), q.toUpperCase()];
  const starts = new Set(
    variants.map((text) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())),
  );
  return [...starts].map((start) => [start, `${start}\u{10ffff}`] as const);
}

/** SQL for the role, the state and the organization, and for a search. */
function conditions(
  parts: AuthParts,
  { role, state, organization }: UserQuery,
  search: Search | null = null,
): RawBuilder<unknown> {
  const all = [
    sql.raw(`u.id is not null${parts.directory.live}`),
    ...(role === undefined ? [] : [hasRole(role)]),
    ...(organization === undefined ? [] : [isMember(parts, organization)]),
    ...(state === undefined ? [] : [isIn(parts, state)]),
    ...(search ? [sql`u.id in (${matching(parts, search)})`] : []),
  ];
  return sql.join(all, sql` and `);
}

const hasRole = (role: string) =>
  /^\d{1,9}$/.test(role)
    ? sql`a.role_id = ${Number(role)}`
    : sql`a.role_id = (select id from auth_roles where name = ${role.replaceAll('\0', '')})`;

/** @throws AppError 400 */
function isMember({ model, kernel }: AuthParts, organization: string): RawBuilder<unknown> {
  if (!model.organizations)
    throw failure.badRequest('organization needs auth.organizations in the manifest');
  const id = parseUserId(organization);
  if (id === null || (typeof id === 'string') !== (kernel.project.ids === 'uuid'))
    throw failure.badRequest('organization must be an id');
  return sql`u.id in (select m.user_id from auth_members m where m.organization_id = ${id})`;
}

function isIn(parts: AuthParts, state: NonNullable<UserQuery['state']>): RawBuilder<unknown> {
  const { kernel, model, directory } = parts;
  const now = kernel.now();
  const disabled = sql`(a.disabled_at is not null and coalesce(a.disabled_until, ${now + 1}) > ${now})`;
  switch (state) {
    case 'disabled':
      return disabled;
    case 'unverified': {
      const email = folded(kernel.store.dialect, 'letters', directory.columnOf('email'));
      const at = sql.ref(directory.columnOf('email_verified_at'));
      return sql`(${at} is null or a.verified_email is null or a.verified_email <> ${email})`;
    }
    case 'locked':
      return sql`u.id in (select l.user_id from auth_identifier_locks l where l.bucket = 'public'
        and (l.locked_until > ${now} or l.total_since_success >= ${model.lockout.hardAfter}))`;
    case 'deleted':
      return sql`a.deletion_at is not null`;
    case 'active':
      return sql`a.deletion_at is null and not coalesce(${disabled}, ${falseOf(kernel.store.dialect)})`;
  }
}

const isPlainText = (value: unknown) => typeof value === 'string' && !value.includes('\0');

const writeCursor = (position: Position): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function readCursor({ kernel }: AuthParts, text: string): Position {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const [key, from, id] = value;
    const fits = isUserId(id) && (typeof id === 'string') === (kernel.project.ids === 'uuid');
    const isValue = from === null || Number.isSafeInteger(from) || isPlainText(from);
    if (fits && isValue && Number.isSafeInteger(key) && (key as number) >= 0)
      return [key as number, from as Position[1], id];
  } catch {
    // The error below says it.
  }
  throw failure.badRequest('cursor is not one that this list gave');
}
