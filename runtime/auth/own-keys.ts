import { type RequestContext, hasScope } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { type ApiKeyRow, checkScopes } from './api-keys.ts';
import { as, callerOf } from './caller.ts';
import { dataScopes } from './data-scopes.ts';
import { checkText, isOpaqueId } from './identity-rules.ts';
import type { UserId } from './ids.ts';
import type { AuthParts } from './parts.ts';
import { serialiseRights } from './permissions.ts';
import { assertReauthenticated, assertStillOpen, signedInAccount } from './reauthentication.ts';
import { recordChange } from './roles.ts';
import { parseDuration, rfc3339 } from './time.ts';

/** API keys that act for the signed-in user: made, listed, named and ended by them. */
export function ownKeyHandlers(parts: AuthParts) {
  return {
    createOwnKey: create(parts),
    ownKeys: list(parts),
    renameOwnKey: rename(parts),
    revokeOwnKey: revoke(parts),
  };
}

function create(parts: AuthParts): Handler {
  const isFree = dataScopes(parts.kernel.project);
  return async ({ context, body }) => {
    const { account, sessionId } = await assertReauthenticated(parts, context);
    const scopes = checkScopes(body.scopes);
    // What is neither the project's data nor a permission of the role would be void from the start.
    const permissions = permissionsIn(context);
    if (!scopes.every((scope) => isFree(scope) || hasScope(permissions, scope)))
      throw failure.forbidden();
    const expiresAt = expiryOf(parts.kernel.now(), body.expires_in);
    const caller = as(callerOf(context), account.id);
    const { row, key } = await parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      await assertStillOpen(parts, trx, sessionId);
      const created = await parts.apiKeys.create(trx, {
        name: checkText('name', body.name),
        scopes,
        expiresAt,
        userId: account.id,
        limitPerMinute: null,
        createdBy: `user:${account.id}`,
      });
      await recordChange(trx, parts.kernel.now(), caller, {
        action: 'api_key.created',
        target: { kind: 'api_key', id: created.row.id },
        before: null,
        after: { scopes },
      });
      emit('api_key.created', account.id, { api_key_id: created.row.id, name: created.row.name });
      return created;
    });
    return reply(201, showKey(row, key));
  };
}

function list(parts: AuthParts): Handler {
  const { apiKeys, kernel } = parts;
  return async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const rows = await apiKeys.ofUser(kernel.store.db, account.id);
    return reply(200, { api_keys: rows.map(show), total: rows.length });
  };
}

function rename(parts: AuthParts): Handler {
  const { kernel, apiKeys } = parts;
  return async ({ context, params, body }) => {
    const { account } = await signedInAccount(parts, context);
    const row = await findOwn(parts, account.id, params['id']);
    const name = checkText('name', body.name);
    if (!name) throw failure.invalid('name is required');
    await kernel.store.transaction((trx) => apiKeys.setName(trx, row.id, name));
    return reply(200, show({ ...row, name }));
  };
}

function revoke(parts: AuthParts): Handler {
  const { kernel, events, apiKeys } = parts;
  return async ({ context, params }) => {
    const { account } = await signedInAccount(parts, context);
    const caller = as(callerOf(context), account.id);
    const row = await findOwn(parts, account.id, params['id']);
    await events.transact(caller, async (trx, emit) => {
      await apiKeys.expire(trx, row.id, 0);
      await recordChange(trx, kernel.now(), caller, {
        action: 'api_key.revoked',
        target: { kind: 'api_key', id: row.id },
        before: { scopes: row.scopes },
        after: null,
      });
      emit('api_key.revoked', account.id, { api_key_id: row.id, name: row.name });
    });
    return reply(204);
  };
}

/** A live key of this user; another's is as one that never was. @throws AppError 404 */
async function findOwn(
  { apiKeys, kernel }: AuthParts,
  userId: UserId,
  id = '',
): Promise<ApiKeyRow> {
  const rows = isOpaqueId(id) ? await apiKeys.ofUser(kernel.store.db, userId) : [];
  const row = rows.find((each) => each.id === id);
  if (!row) throw failure.notFound('API key not found');
  return row;
}

const permissionsIn = ({ principal }: RequestContext) =>
  principal.kind === 'user' ? principal.permissions : [];

const show = (row: ApiKeyRow) => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  created_at: rfc3339(row.created_at),
  expires_at: rfc3339(row.expires_at),
  last_used_at: rfc3339(row.last_used_at),
});

/** A new key as its maker sees it, once. */
export function showKey(row: ApiKeyRow, key: string) {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    key,
    scopes: row.scopes,
    expires_at: rfc3339(row.expires_at),
  };
}

/** @throws AppError 400 */
export function expiryOf(now: number, given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const duration = parseDuration(given);
  if (duration === null)
    throw failure.invalid(
      'expires_in must be seconds or a duration such as "30d", a hundred years at most',
    );
  return now + duration;
}
