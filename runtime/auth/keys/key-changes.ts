import type { Project } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { Change } from '../events/events.ts';
import type { Caller } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { recordChange } from '../users/roles.ts';
import { durationOf, rfc3339 } from '../base/time.ts';
import type { ApiKeyRow, NewApiKey } from './api-keys.ts';

/** Shared by users, who change their own API keys, and administrators, who change all of them. */

/** @param after The description of the new key in the log of permission changes. */
export async function makeKey(
  auth: AuthState,
  { trx, emit, caller }: Change,
  given: Omit<NewApiKey, 'createdBy'>,
  after: Readonly<Record<string, unknown>>,
): Promise<{ readonly row: ApiKeyRow; readonly key: string }> {
  const created = await auth.apiKeys.create(trx, { ...given, createdBy: makerOf(caller) });
  const { id, name } = created.row;
  await recordChange(trx, auth.now(), caller, {
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
  auth: AuthState,
  { trx, emit, caller }: Change,
  { id, name, scopes, owner_user_id }: ApiKeyRow,
  reason?: string,
): Promise<void> {
  await auth.apiKeys.expire(trx, id, 0);
  await recordChange(trx, auth.now(), caller, {
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

/**
 * Areas of the server's own routes. Their scopes always need a permission, even if an entity of the
 * project has the same name.
 */
const OWN_AREAS: ReadonlySet<string> = new Set([
  'apps',
  'auth',
  'console',
  'host',
  'jobs',
  'metrics',
  'models',
  'system',
]);

const ACTIONS: ReadonlySet<string> = new Set(['read', 'write', '*']);

/**
 * Returns a test for free scopes: those of the project's data, such as `posts:read`, `posts:write`,
 * `posts:*`, and those of `/mcp`, which reads and writes the same data. A key of a user may have
 * them with any role, because the access rules of the schema still apply to that user.
 */
export function dataScopes({ entities }: Pick<Project, 'entities'>): (scope: string) => boolean {
  const areas = new Set([
    'mcp',
    ...entities.map(({ plural }) => plural).filter((plural) => !OWN_AREAS.has(plural)),
  ]);
  return (scope) => {
    const [area = '', action = ''] = scope.split(':');
    return areas.has(area) && ACTIONS.has(action);
  };
}
