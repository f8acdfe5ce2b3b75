import { failure } from '@twofold/runtime/errors';
import type { ApiKeyRow, NewApiKey } from './api-keys.ts';
import type { Caller } from '../requests/caller.ts';
import type { AuthParts } from '../parts.ts';
import { recordChange, type RightsChange } from '../users/roles.ts';
import { durationOf, rfc3339 } from '../time.ts';

/** Shared by users, who change their own API keys, and administrators, who change all of them. */

/** @param after The description of the new key in the log of permission changes. */
export async function makeKey(
  { apiKeys, kernel }: AuthParts,
  { trx, emit, caller }: RightsChange,
  given: Omit<NewApiKey, 'createdBy'>,
  after: Readonly<Record<string, unknown>>,
): Promise<{ readonly row: ApiKeyRow; readonly key: string }> {
  const created = await apiKeys.create(trx, { ...given, createdBy: makerOf(caller) });
  const { id, name } = created.row;
  await recordChange(trx, kernel.now(), caller, {
    action: 'api_key.created',
    target: { kind: 'api_key', id },
    before: null,
    after,
  });
  emit('api_key.created', given.userId, { api_key_id: id, name });
  return created;
}

/** Revokes a key. @param reason Why, when it is revoked together with other access of its owner. */
export async function endKey(
  { apiKeys, kernel }: AuthParts,
  { trx, emit, caller }: RightsChange,
  { id, name, scopes, owner_user_id }: ApiKeyRow,
  reason?: string,
): Promise<void> {
  await apiKeys.expire(trx, id, 0);
  await recordChange(trx, kernel.now(), caller, {
    action: 'api_key.revoked',
    target: { kind: 'api_key', id },
    before: { scopes },
    after: null,
  });
  emit('api_key.revoked', owner_user_id, { api_key_id: id, name, ...(reason && { reason }) });
}

export const makerOf = ({ actor }: Caller) => `${actor.kind}:${actor.id}`;

/** A key as its owner sees it. */
export const keyView = (row: ApiKeyRow) => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  created_at: rfc3339(row.created_at),
  expires_at: rfc3339(row.expires_at),
  last_used_at: rfc3339(row.last_used_at),
});

/** A new key as its maker sees it, once. */
export const newKeyView = ({ id, name, prefix, scopes, expires_at }: ApiKeyRow, key: string) => ({
  id,
  name,
  prefix,
  key,
  scopes,
  expires_at: rfc3339(expires_at),
});

/** @throws AppError 400 */
export function expiryOf(now: number, given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const duration = durationOf(given);
  if (duration === null)
    throw failure.invalid(
      'expires_in must be seconds or a duration such as "30d", a hundred years at most',
    );
  return now + duration;
}
