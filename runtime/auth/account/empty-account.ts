import { randomUUID } from 'node:crypto';
import type { Column } from '@twofold/schema';
import type { Dialect } from '@twofold/runtime/kernel';
import { storedIn, storedRow, tableIn } from '../users/adopted-table.ts';
import type { AnyDb, Trx } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { OWNED_TABLES } from '../users/user-table.ts';

/**
 * Empties the row of a user who is deleted but whose row must stay, because others refer to it.
 * Every column but the keys and the times of creation and change loses its value, and so do the
 * tables of this module. The address and the username are free again.
 */
export async function emptyAccount(auth: AuthState, trx: Trx, id: UserId): Promise<void> {
  for (const [table, key] of OWNED_TABLES)
    if (table !== 'auth_users') await trx.deleteFrom(table).where(key, '=', id).execute();
  await emptySide(trx, id);
  const entity = auth.project.entities.find(({ name }) => name === auth.model.user.entity);
  if (!entity) return;
  const columns = entity.columns.filter(
    (column) => !isKept(column) && column.name !== entity.softDelete,
  );
  const row = Object.fromEntries(
    columns.map((column) => [
      column.name,
      column.name === auth.model.user.columns.email
        ? `deleted-${id}@deleted.invalid`
        : emptyValue(column, id, auth.store.dialect),
    ]),
  );
  if (columns.length > 0)
    await (trx as AnyDb)
      .updateTable(tableIn(auth.store.dialect, entity))
      .set(storedRow(auth.model.user, row))
      .where(storedIn(auth.model.user, 'id'), '=', id)
      .execute();
}

/** The row of `auth_users` stays, because it records that the account is deleted. */
async function emptySide(trx: Trx, id: UserId): Promise<void> {
  const kept = await trx
    .deleteFrom('auth_users')
    .where('user_id', '=', id)
    .returning(['user_id', 'deletion_at', 'emptied_at', 'created_at', 'updated_at'])
    .executeTakeFirstOrThrow();
  await trx.insertInto('auth_users').values(kept).execute();
}

const isKept = ({ name, stamp, version, required, references }: Column) =>
  name === 'id' || stamp !== undefined || version || (required && references !== undefined);

/** The emptiest value that the column takes. */
function emptyValue(column: Column, id: UserId, dialect: Dialect): unknown {
  if (!column.required) return null;
  if (column.default?.kind === 'value' && !column.unique)
    return stored(column.default.value, dialect);
  if (column.values) return column.values[0];
  return stored(emptyOf(column, id), dialect);
}

function emptyOf(column: Column, id: UserId): unknown {
  return (EMPTY[column.type] ?? emptyText)(column, id);
}

const emptyNumber = (column: Column, id: UserId) =>
  column.unique && typeof id === 'number' ? id : withinBounds(column);

const EMPTY: Readonly<Record<string, (column: Column, id: UserId) => unknown>> = {
  integer: emptyNumber,
  bigint: emptyNumber,
  real: emptyNumber,
  decimal: (column) => String(withinBounds(column)),
  boolean: () => false,
  timestamp: () => new Date(0).toISOString(),
  date: () => '1970-01-01',
  time: () => '00:00:00',
  json: ({ list }) => (list ? '[]' : '{}'),
  uuid: () => randomUUID(),
  id: () => randomUUID(),
  bytes: () => Buffer.alloc(0),
};

function withinBounds({ constraint = {} }: Column): number {
  return Math.min(Math.max(0, constraint.min ?? 0), constraint.max ?? 0) || (constraint.min ?? 0);
}

function emptyText({ unique, constraint = {} }: Column, id: UserId): string {
  const { minLength = 0 } = constraint;
  return (unique ? `deleted-${id}` : '').padEnd(minLength, '-');
}

/** SQLite has no booleans: the driver takes 0 and 1. */
const stored = (value: unknown, dialect: Dialect) =>
  typeof value === 'boolean' && dialect === 'sqlite' ? Number(value) : value;
