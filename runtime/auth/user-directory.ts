import { sql, type Kysely, type Transaction } from 'kysely';
import { isEmail } from '@twofold/schema';
import type { AuthUser, Column, Entity, Project, UserAttribute } from '@twofold/schema';
import { type Store, folded } from '@twofold/runtime/kernel';
import { emailKey, phoneKey } from './identity-rules.ts';
import { uuidV7, type UserId } from './ids.ts';

export interface Role {
  readonly id: number;
  readonly name: string;
}

/** A user with everything that signing in needs. Times are milliseconds since 1970. */
export interface Account {
  readonly id: UserId;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly username: string;
  readonly phone: string;
  readonly avatar_url: string;
  readonly last_login: number | null;
  /** The stored hash; null for somebody who signs in through a provider only. */
  readonly password: string | null;
  readonly role: Role | null;
  /** Whether the address of now, and not an earlier one, was proved. */
  readonly emailVerified: boolean;
  readonly disabledAt: number | null;
  readonly tokensValidAfter: number;
  readonly passwordChangedAt: number;
}

/** What can be written of a user. Entity columns and the side table are told apart by the directory. */
export interface AccountPatch {
  readonly email?: string;
  readonly name?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly username?: string | null;
  readonly phone?: string | null;
  readonly avatar_url?: string;
  readonly last_login?: number;
  readonly email_verified_at?: number | null;
  readonly password?: string;
  readonly password_changed_at?: number;
  readonly role_id?: number | null;
  readonly tokens_valid_after?: number;
  readonly disabled_at?: number | null;
}

export interface UserDirectory {
  /** The table that holds identities, and the condition under which one of its rows (`u`) counts. */
  readonly table: string;
  readonly live: string;
  find(db: Kysely<any>, id: UserId): Promise<Account | null>;
  findByEmail(db: Kysely<any>, email: string): Promise<Account | null>;
  /** Whether a live or removed row already has one of these. */
  isTaken(
    trx: Transaction<any>,
    by: {
      readonly email?: string;
      readonly username?: string | null;
      readonly phone?: string | null;
    },
  ): Promise<boolean>;
  /** Writes both rows. `fields` are further columns of the entity. */
  create(
    trx: Transaction<any>,
    patch: AccountPatch & { readonly email: string },
    fields: Readonly<Record<string, unknown>>,
  ): Promise<UserId>;
  update(trx: Kysely<any>, id: UserId, patch: AccountPatch): Promise<void>;
  remove(trx: Transaction<any>, id: UserId): Promise<void>;
  /** Only one of these transactions runs at a time, on every server that shares the database. */
  serialise(trx: Transaction<any>): Promise<void>;
}

/** How each identity is compared. */
export const FOLDS = { email: 'letters', username: 'letters', phone: 'digits' } as const;

const TEXTS = ['first_name', 'last_name', 'username', 'phone', 'avatar_url'] as const;
const TIMES = new Set<string>(['last_login', 'email_verified_at', 'created_at', 'updated_at']);

/** Reads and writes users over the entity's table and the side table `auth_users`, which share the key. */
export function createUserDirectory(
  project: Project,
  user: AuthUser,
  store: Store,
  now: () => number,
): UserDirectory {
  const entity = project.entities.find(({ name }) => name === user.entity) ?? null;
  const place = (attribute: UserAttribute) =>
    user.columns[attribute] ? `u.${user.columns[attribute]}` : `a.${attribute}`;
  const columns = new Map((entity?.columns ?? []).map((column) => [column.name, column]));
  const keyOf = (attribute: keyof typeof FOLDS) =>
    attribute === 'username' && !user.columns.username
      ? sql.ref<string>('a.username_key')
      : folded(store.dialect, FOLDS[attribute], place(attribute));
  const hasKey = async (db: Kysely<any>, attribute: keyof typeof FOLDS, key: string) =>
    (await db
      .selectFrom(`${user.table} as u`)
      .leftJoin('auth_users as a', 'a.user_id', 'u.id')
      .select('u.id')
      .where(keyOf(attribute), '=', key)
      .limit(1)
      .executeTakeFirst()) !== undefined;
  const select = (db: Kysely<any>) =>
    db
      .selectFrom(`${user.table} as u`)
      .leftJoin('auth_users as a', 'a.user_id', 'u.id')
      .leftJoin('auth_roles as r', 'r.id', 'a.role_id')
      .select([
        'u.id as id',
        'a.password',
        'a.role_id',
        'a.disabled_at',
        'a.tokens_valid_after',
        'a.verified_email',
        'a.password_changed_at',
        'r.name as role_name',
      ])
      .select(
        (['email', ...TEXTS, 'last_login', 'email_verified_at'] as const).map(
          (attribute) => `${place(attribute)} as ${attribute}`,
        ),
      );
  const live = (query: any) =>
    entity?.softDelete ? query.where(`u.${entity.softDelete}`, 'is', null) : query;
  const one = async (query: any) =>
    toAccount(await live(query).orderBy('u.id').limit(1).executeTakeFirst());

  const update: UserDirectory['update'] = async (db, id, patch) => {
    const { own, side } = split(user, columns, patch, now());
    if (Object.keys(own).length > 0)
      await db.updateTable(user.table).set(own).where('id', '=', id).execute();
    await upsertSide(db, id, side, now());
  };
  return {
    table: user.table,
    live: entity?.softDelete ? ` and u."${entity.softDelete}" is null` : '',
    find: (db, id) => one(select(db).where('u.id', '=', id)),
    findByEmail: async (db, email) =>
      !isEmail(email) ? null : one(select(db).where(keyOf('email'), '=', emailKey(email))),
    // One statement for each, since an index serves a condition of its own and not one of several.
    isTaken: async (trx, { email, username, phone }) =>
      (!!email && (await hasKey(trx, 'email', emailKey(email)))) ||
      (!!username && (await hasKey(trx, 'username', username.toLowerCase()))) ||
      (!!phone && (await hasKey(trx, 'phone', phoneKey(phone)))),
    create: async (trx, patch, fields) => {
      const { own, side } = split(user, columns, patch, now());
      const row = { ...initial(project, user, entity, now()), ...fields, ...own };
      const { id } = (await trx
        .insertInto(user.table)
        .values(row)
        .returning('id')
        .executeTakeFirstOrThrow()) as { id: UserId };
      await upsertSide(trx, id, side, now());
      return id;
    },
    update,
    remove: async (trx, id) => {
      if (entity?.softDelete) {
        const column = columns.get(entity.softDelete);
        await trx
          .updateTable(user.table)
          .set({ [entity.softDelete]: encodeTime(column, now()) })
          .where('id', '=', id)
          .execute();
      } else await trx.deleteFrom(user.table).where('id', '=', id).execute();
    },
    serialise: async (trx) => {
      if (store.dialect === 'postgres')
        await sql`select pg_advisory_xact_lock(hashtextextended('auth/users', 0))`.execute(trx);
    },
  };
}

/** What a new row has besides what the caller gives: key, stamps, generated defaults. */
function initial(
  project: Project,
  user: AuthUser,
  entity: Entity | null,
  now: number,
): Record<string, unknown> {
  const time = new Date(now).toISOString();
  const row: Record<string, unknown> = project.ids === 'uuid' ? { id: uuidV7(now) } : {};
  if (!entity)
    for (const name of [user.columns.created_at, user.columns.updated_at])
      if (name) row[name] = time;
  for (const column of entity?.columns ?? []) {
    if (column.stamp || column.default?.kind === 'now') row[column.name] = encodeTime(column, now);
    else if (column.default?.kind === 'uuid' && column.name !== 'id')
      row[column.name] = uuidV7(now);
  }
  return row;
}

/** A patch as the columns of the entity's table and those of the side table. */
function split(
  user: AuthUser,
  columns: ReadonlyMap<string, Column>,
  patch: AccountPatch,
  now: number,
) {
  const own: Record<string, unknown> = {};
  const side: Record<string, unknown> = {};
  for (const [attribute, value] of Object.entries(patch)) {
    const column = user.columns[attribute as UserAttribute];
    if (column)
      own[column] = TIMES.has(attribute)
        ? encodeTime(columns.get(column), value)
        : orEmpty(columns.get(column), value);
    else if (attribute !== 'name') side[attribute] = value;
  }
  if (patch.username !== undefined && !user.columns.username)
    side['username_key'] = patch.username?.toLowerCase() ?? null;
  if (patch.email !== undefined && !user.columns.email) side['email_key'] = emailKey(patch.email);
  if (patch.email_verified_at !== undefined)
    side['verified_email'] =
      patch.email_verified_at !== null && patch.email ? emailKey(patch.email) : null;
  if (user.columns.updated_at)
    own[user.columns.updated_at] = encodeTime(columns.get(user.columns.updated_at), now);
  return { own, side };
}

const orEmpty = (column: Column | undefined, value: unknown) =>
  value === null && column?.required ? '' : value;

async function upsertSide(
  db: Kysely<any>,
  id: UserId,
  side: Record<string, unknown>,
  now: number,
): Promise<void> {
  await db
    .insertInto('auth_users')
    .values({ user_id: id, created_at: now, updated_at: now, ...side })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ updated_at: now, ...side }))
    .execute();
}

function encodeTime(column: Column | undefined, milliseconds: unknown): unknown {
  if (milliseconds === null) return null;
  return column?.type === 'integer' || column?.type === 'bigint'
    ? milliseconds
    : new Date(milliseconds as number).toISOString();
}

function decodeTime(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' ? value : Date.parse(String(value));
}

function toAccount(row: Record<string, any> | undefined): Account | null {
  if (!row) return null;
  const texts = Object.fromEntries(TEXTS.map((name) => [name, row[name] ?? ''])) as Record<
    (typeof TEXTS)[number],
    string
  >;
  return {
    id: row['id'],
    email: row['email'] ?? '',
    ...texts,
    last_login: decodeTime(row['last_login']),
    password: row['password'] ?? null,
    role:
      row['role_id'] && row['role_name'] ? { id: row['role_id'], name: row['role_name'] } : null,
    emailVerified:
      row['email_verified_at'] !== null && row['verified_email'] === emailKey(row['email'] ?? ''),
    disabledAt: row['disabled_at'] ?? null,
    tokensValidAfter: row['tokens_valid_after'] ?? 0,
    passwordChangedAt: row['password_changed_at'] ?? 0,
  };
}
