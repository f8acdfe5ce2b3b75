import { createHash, randomBytes } from 'node:crypto';
import { type Store, uuid7 } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { Budget } from './budget.ts';

/** A key for models, or what an API key of the server may use of them. */
export interface ModelKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  /** Ids and aliases, in which `*` stands for any text. */
  readonly models: readonly string[];
  readonly budget: Budget;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export interface NewModelKey {
  readonly name: string;
  readonly models: readonly string[];
  readonly budget: Budget;
  /** Milliseconds since 1970. */
  readonly expiresAt: number | null;
  readonly createdBy: string;
}

export interface ModelKeys {
  create(key: NewModelKey): Promise<{ readonly key: string; readonly row: ModelKey }>;
  /** The live key with this text, or null. */
  authenticate(text: string): Promise<ModelKey | null>;
  /** The key with this id, also one that has expired. */
  byId(id: string): Promise<ModelKey | null>;
  isLive(key: ModelKey): boolean;
  all(): Promise<readonly ModelKey[]>;
  /** Changes a key. One of the server gets its first budget so. @throws AppError 404 */
  change(id: string, changes: KeyChanges, by: string): Promise<ModelKey>;
  /** @throws AppError 404 */
  remove(id: string): Promise<void>;
}

export type KeyChanges = Partial<Pick<NewModelKey, 'name' | 'models' | 'budget' | 'expiresAt'>>;

const TABLE = 'hosting_model_keys';
/** By name: a statement of all columns is prepared anew each time. */
const COLUMNS = ['id', 'name', 'prefix', 'models', 'budget', 'created_at', 'expires_at'] as const;
export const KEY_BEGIN = 'mk_';
/** Ids of API keys of the server begin so. */
const SERVER_KEY = /^key_[0-9A-Z]{26}$/;

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

export function createModelKeys(store: Store, now: () => number): ModelKeys {
  const { db } = store;
  const find = async (column: 'id' | 'hash', value: string) => {
    const found = db.selectFrom(TABLE).select(COLUMNS).where(column, '=', value);
    const row = await found.executeTakeFirst();
    return row ? toKey(row) : null;
  };
  const isLive = ({ expiresAt }: ModelKey) => expiresAt === null || Date.parse(expiresAt) > now();
  const insert = async (
    { name, models, budget, expiresAt, createdBy }: NewModelKey,
    own: OwnRow,
  ) => {
    const row = {
      ...{ ...own, name, created_by: createdBy, created_at: new Date(now()).toISOString() },
      ...{ models: JSON.stringify(models), budget: JSON.stringify(budget) },
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    };
    await db.insertInto(TABLE).values(row).execute();
    return toKey(row);
  };
  return {
    async create(given) {
      const prefix = randomBytes(6).toString('hex');
      const key = `${KEY_BEGIN}${prefix}_${randomBytes(32).toString('base64url')}`;
      const row = await insert(given, { id: `mkey_${uuid7(now())}`, prefix, hash: digest(key) });
      return { key, row };
    },
    async authenticate(text) {
      const key = await find('hash', digest(text));
      return key && isLive(key) ? key : null;
    },
    isLive,
    byId: (id) => find('id', id),
    async all() {
      const rows = await db.selectFrom(TABLE).select(COLUMNS).orderBy('created_at').execute();
      return rows.map(toKey);
    },
    async change(id, changes, by) {
      const known = await find('id', id);
      if (known) return update(store, known, changes);
      if (!SERVER_KEY.test(id)) throw failure.notFound('Key not found');
      const defaults = { name: id, models: ['*'], budget: {}, expiresAt: null, createdBy: by };
      return insert({ ...defaults, ...changes }, { id, prefix: id.slice(0, 12), hash: null });
    },
    async remove(id) {
      const { numDeletedRows } = await db.deleteFrom(TABLE).where('id', '=', id).executeTakeFirst();
      if (Number(numDeletedRows) === 0) throw failure.notFound('Key not found');
      await db.deleteFrom('hosting_model_budgets').where('subject', '=', id).execute();
    },
  };
}

interface OwnRow {
  readonly id: string;
  readonly prefix: string;
  readonly hash: string | null;
}

async function update(
  { db }: Store,
  known: ModelKey,
  { name, models, budget, expiresAt }: KeyChanges,
): Promise<ModelKey> {
  const changed: ModelKey = {
    ...known,
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models }),
    ...(budget !== undefined && { budget }),
    ...(expiresAt !== undefined && {
      expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    }),
  };
  await db
    .updateTable(TABLE)
    .set({
      name: changed.name,
      models: JSON.stringify(changed.models),
      budget: JSON.stringify(changed.budget),
      expires_at: changed.expiresAt,
    })
    .where('id', '=', known.id)
    .execute();
  return changed;
}

function toKey(row: Record<string, any>): ModelKey {
  return {
    id: row['id'],
    name: row['name'],
    prefix: row['prefix'],
    models: JSON.parse(row['models']),
    budget: JSON.parse(row['budget']),
    createdAt: row['created_at'],
    expiresAt: row['expires_at'],
  };
}

/** Whether a name is one of these, in which `*` stands for any text. */
export const isNamed = (names: readonly string[], name: string): boolean =>
  names.some((pattern) =>
    new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 's').test(name),
  );
