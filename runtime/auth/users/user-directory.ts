import { sql } from 'kysely';
import {
  type AuthUser,
  type Column,
  type Entity,
  isEmail,
  type Project,
  type UserAttribute,
} from '@twofold/schema';
import { folded, type Store } from '@twofold/runtime/kernel';
import type { AnyDb, Db, Trx } from '../base/tables.ts';
import { emailKey, phoneKey } from '../base/identity-rules.ts';
import type { UserId } from '../base/ids.ts';
import { rowsIn, storedIn, storedRow, tableIn } from './adopted-table.ts';
import { type AccountPatch, encodeTime, initialValues, splitColumns } from './user-columns.ts';

export interface Role {
  readonly id: number;
  readonly name: string;
}

/** A user with all data that sign-in needs. Times are milliseconds since 1970. */
export interface Account {
  readonly id: UserId;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly username: string;
  readonly phone: string;
  readonly avatar_url: string;
  /** A BCP 47 language tag, or the empty text. */
  readonly locale: string;
  readonly createdAt: number | null;
  readonly last_login: number | null;
  /** The stored hash; null for a user who signs in through a provider only. */
  readonly password: string | null;
  readonly role: Role | null;
  /** Whether the current address was verified. An earlier address does not count. */
  readonly emailVerified: boolean;
  readonly disabledAt: number | null;
  /** When a deleted account is removed. Until then its owner can restore it. */
  readonly deletionAt: number | null;
  /** When a disabled user is enabled again by itself; null for never. */
  readonly disabledUntil: number | null;
  readonly disabledReason: string | null;
  /** Whether the next sign-in asks for a new password. */
  readonly passwordChangeRequired: boolean;
  readonly tokensValidAfter: number;
  readonly passwordChangedAt: number;
  /** When TOTP was switched on; null while it is off. */
  readonly totpSince: number | null;
}

/** A user with their role in an organization. */
export interface MemberAccount {
  readonly account: Account;
  readonly role: string;
  readonly joinedAt: number;
}

export type { AccountPatch };

/** Whether an account is disabled or deleted, so that nothing signs in to it. */
export const isClosed = ({ disabledAt, deletionAt }: Pick<Account, 'disabledAt' | 'deletionAt'>) =>
  disabledAt !== null || deletionAt !== null;

/** How each kind of identity is normalised for comparison: to small letters, or to digits. */
export const IDENTITY_FOLDS = { email: 'letters', username: 'letters', phone: 'digits' } as const;

const TEXT_COLUMNS = [
  'first_name',
  'last_name',
  'username',
  'phone',
  'avatar_url',
  'locale',
] as const;

const TIMES = ['created_at', 'last_login', 'email_verified_at'] as const;

type Identity = keyof typeof IDENTITY_FOLDS;

/** The key of a user, and the columns of side tables that an entity does not declare itself. */
const SIDE_COLUMNS = [
  'u.id as id',
  'a.password',
  'a.role_id',
  'a.disabled_at',
  'a.deletion_at',
  'a.disabled_until',
  'a.disabled_reason',
  'a.tokens_valid_after',
  'a.verified_email',
  'a.password_changed_at',
  'a.password_change_required_at',
  'a.totp_confirmed_at',
  'r.name as role_name',
] as const;

/** Reads and writes users in the entity's table and in `auth_users`, which share the key. */
export class UserDirectory {
  /** The table with the identity columns, with its schema where it has one. */
  readonly table: string;
  /** SQL for its rows, with the names of columns in the model. */
  readonly rows: string;
  /** Whether a delete only marks the row. */
  readonly keepsDeleted: boolean;
  /** SQL condition for a row (`u`) that is not deleted, for use in a join. */
  readonly live: string;
  readonly #project: Project;
  readonly #user: AuthUser;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #entity: Entity | null;
  readonly #columns: ReadonlyMap<string, Column>;

  constructor(project: Project, user: AuthUser, store: Store, now: () => number) {
    this.#project = project;
    this.#user = user;
    this.#store = store;
    this.#now = now;
    this.#entity = project.entities.find(({ name }) => name === user.entity) ?? null;
    this.#columns = new Map((this.#entity?.columns ?? []).map((column) => [column.name, column]));
    this.table = tableIn(store.dialect, user);
    const { softDelete } = this.#entity ?? {};
    const columns = ['id', ...Object.values(user.columns), ...(softDelete ? [softDelete] : [])];
    this.rows = rowsIn(store.dialect, user, columns);
    this.keepsDeleted = softDelete !== undefined;
    this.live = softDelete ? ` and u."${softDelete}" is null` : '';
  }

  async find(db: Db, id: UserId): Promise<Account | null> {
    return this.#first(this.#select(db).where('u.id', '=', id));
  }

  /** The users with these ids, in the order of the ids. */
  async findMany(db: Db, ids: readonly UserId[]): Promise<Account[]> {
    if (ids.length === 0) return [];
    const rows = await this.#select(db).where('u.id', 'in', ids).execute();
    const accounts = new Map(rows.map((row) => [row['id'], toAccount(row, this.#now())]));
    return ids.flatMap((id) => accounts.get(id) ?? []);
  }

  async findByEmail(db: Db, email: string): Promise<Account | null> {
    if (!isEmail(email)) return null;
    return this.#first(this.#select(db).where(this.#keyOf('email'), '=', emailKey(email)));
  }

  /** Whether a row other than `except`, deleted ones included, already has one of these values. */
  async isTaken(
    trx: Trx,
    {
      email,
      username,
      phone,
    }: {
      readonly email?: string;
      readonly username?: string | null;
      readonly phone?: string | null;
    },
    except?: UserId,
  ): Promise<boolean> {
    // One statement for each value, because one statement with `or` could not use the indexes.
    return (
      (!!email && (await this.#hasKey(trx, 'email', emailKey(email), except))) ||
      (!!username && (await this.#hasKey(trx, 'username', username.toLowerCase(), except))) ||
      (!!phone && (await this.#hasKey(trx, 'phone', phoneKey(phone), except)))
    );
  }

  /** The columns of the entity's own table that a patch sets, with their values. */
  columnsSetBy(patch: AccountPatch): Readonly<Record<string, unknown>> {
    return splitColumns(this.#user, this.#columns, patch, this.#now()).own;
  }

  /**
   * Inserts both rows. `fields` are further columns of the entity; `added` replaces what the patch
   * says.
   */
  async create(
    trx: Trx,
    patch: AccountPatch & { readonly email: string },
    fields: Readonly<Record<string, unknown>>,
    added: Readonly<Record<string, unknown>> = {},
  ): Promise<UserId> {
    const now = this.#now();
    const { own, side } = splitColumns(this.#user, this.#columns, patch, now);
    const row = {
      ...initialValues(this.#project, this.#user, this.#entity, now),
      ...fields,
      ...own,
      ...added,
    };
    const insert = (trx as AnyDb)
      .insertInto(this.table)
      .values(storedRow(this.#user, row))
      .returning(`${this.#id} as id`);
    const { id } = (await insert.executeTakeFirstOrThrow()) as { id: UserId };
    await upsertAuthRow(trx, id, side, now);
    return id;
  }

  /**
   * Whether this row is or was an account. A row that another program inserted has nothing in
   * `auth_users`.
   */
  async hasAccount(trx: Db, id: UserId): Promise<boolean> {
    const row = await trx
      .selectFrom('auth_users')
      .select('user_id')
      .where('user_id', '=', id)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Changes both rows. `fields` are further columns of the entity. */
  async update(
    trx: Db,
    id: UserId,
    patch: AccountPatch,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const split = splitColumns(this.#user, this.#columns, patch, this.#now());
    const { side } = split;
    const own = { ...fields, ...split.own };
    const version = this.#entity?.columns.find((column) => column.version);
    const next = version && {
      [version.name]: sql`${sql.ref(storedIn(this.#user, version.name))} + 1`,
    };
    if (Object.keys(own).length > 0)
      await (trx as AnyDb)
        .updateTable(this.table)
        .set(storedRow(this.#user, { ...own, ...next }))
        .where(this.#id, '=', id)
        .execute();
    await upsertAuthRow(trx, id, side, this.#now());
  }

  async remove(trx: Trx, id: UserId): Promise<void> {
    const { softDelete } = this.#entity ?? {};
    if (!softDelete)
      return void (await (trx as AnyDb).deleteFrom(this.table).where(this.#id, '=', id).execute());
    const removed = { [softDelete]: encodeTime(this.#columns.get(softDelete), this.#now()) };
    await (trx as AnyDb)
      .updateTable(this.table)
      .set(storedRow(this.#user, removed))
      .where(this.#id, '=', id)
      .execute();
  }

  /** The members of an organization, in the order in which they joined. */
  async membersOf(db: Db, organization: number | string): Promise<MemberAccount[]> {
    const { softDelete } = this.#entity ?? {};
    const joined = this.#select(db)
      .innerJoin('auth_members as m', 'm.user_id', 'u.id')
      .select(['m.role as member_role', 'm.created_at as joined_at'])
      .where('m.organization_id', '=', organization)
      .orderBy('m.created_at')
      .orderBy('u.id');
    const rows = await (
      softDelete ? joined.where(`u.${softDelete}`, 'is', null) : joined
    ).execute();
    return rows.map((row: Record<string, any>) => ({
      account: toAccount(row, this.#now())!,
      role: row['member_role'],
      joinedAt: row['joined_at'],
    }));
  }

  /** Takes a lock until the transaction ends, on all servers that share the database. */
  async serialise(trx: Trx): Promise<void> {
    if (this.#store.dialect === 'postgres')
      await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '/auth/users', 0))`.execute(
        trx,
      );
  }

  /** The name of the key in the database. */
  get #id(): string {
    return storedIn(this.#user, 'id');
  }

  /** The column of an attribute in a query with the tables `u` and `a`. */
  columnOf(attribute: UserAttribute): string {
    const column = this.#user.columns[attribute];
    return column ? `u.${column}` : `a.${attribute}`;
  }

  #keyOf(attribute: Identity) {
    return attribute === 'username' && !this.#user.columns.username
      ? sql.ref<string>('a.username_key')
      : folded(this.#store.dialect, IDENTITY_FOLDS[attribute], this.columnOf(attribute));
  }

  async #hasKey(db: Db, attribute: Identity, key: string, except?: UserId): Promise<boolean> {
    const rows = await this.#joined(db)
      .select('u.id')
      .where(this.#keyOf(attribute), '=', key)
      .limit(2)
      .execute();
    return rows.some(({ id }) => id !== except);
  }

  #joined(db: Db) {
    return db
      .selectFrom(sql<Record<string, any>>`${sql.raw(this.rows)}`.as('u'))
      .leftJoin('auth_users as a', 'a.user_id', 'u.id')
      .leftJoin('auth_roles as r', 'r.id', 'a.role_id');
  }

  #select(db: Db) {
    const attributes = ['email', ...TEXT_COLUMNS, ...TIMES] as const;
    return this.#joined(db)
      .select(SIDE_COLUMNS)
      .select(attributes.map((attribute) => `${this.columnOf(attribute)} as ${attribute}`));
  }

  async #first(query: any): Promise<Account | null> {
    const { softDelete } = this.#entity ?? {};
    const live = softDelete ? query.where(`u.${softDelete}`, 'is', null) : query;
    return toAccount(await live.orderBy('u.id').limit(1).executeTakeFirst(), this.#now());
  }
}

async function upsertAuthRow(
  db: Db,
  id: UserId,
  columns: Record<string, unknown>,
  now: number,
): Promise<void> {
  await db
    .insertInto('auth_users')
    .values({ user_id: id, created_at: now, updated_at: now, ...columns })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ updated_at: now, ...columns }),
    )
    .execute();
}

function decodeTime(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' ? value : Date.parse(String(value));
}

function toAccount(row: Record<string, any> | undefined, now: number): Account | null {
  if (!row) return null;
  const isDisabled = row['disabled_at'] !== null && (row['disabled_until'] ?? Infinity) > now;
  const texts = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, row[name] ?? ''])) as Record<
    (typeof TEXT_COLUMNS)[number],
    string
  >;
  return {
    id: row['id'],
    email: row['email'] ?? '',
    ...texts,
    createdAt: decodeTime(row['created_at']),
    last_login: decodeTime(row['last_login']),
    password: row['password'] ?? null,
    role:
      row['role_id'] && row['role_name'] ? { id: row['role_id'], name: row['role_name'] } : null,
    emailVerified:
      row['email_verified_at'] !== null && row['verified_email'] === emailKey(row['email'] ?? ''),
    disabledAt: isDisabled ? (row['disabled_at'] ?? null) : null,
    disabledUntil: isDisabled ? (row['disabled_until'] ?? null) : null,
    disabledReason: isDisabled ? (row['disabled_reason'] ?? null) : null,
    deletionAt: row['deletion_at'] ?? null,
    passwordChangeRequired: (row['password_change_required_at'] ?? null) !== null,
    tokensValidAfter: row['tokens_valid_after'] ?? 0,
    passwordChangedAt: row['password_changed_at'] ?? 0,
    totpSince: row['totp_confirmed_at'] ?? null,
  };
}
