import { failure } from '../../errors.ts';
import { type Handler, reply } from '../../http/route.ts';
import { type ApiKeyRow, checkScopes } from '../api-keys.ts';
import { callerOf } from '../caller.ts';
import { checkText, isOpaqueId } from '../identity-rules.ts';
import { isUserId, type UserId } from '../ids.ts';
import { expiryOf, showKey } from '../own-keys.ts';
import type { AuthParts } from '../parts.ts';
import { recordChange } from '../roles.ts';
import { parseDuration, rfc3339 } from '../time.ts';

/** API keys. A key is shown when it is made and never again: only its hash is kept. */
export function keyHandlers(parts: AuthParts) {
  const { kernel, apiKeys, events, directory } = parts;
  const { db } = kernel.store;
  const find = async (id = ''): Promise<ApiKeyRow> => {
    if (!isOpaqueId(id)) throw failure.notFound('API key not found');
    const row = await apiKeys.find(db, id);
    if (row.revoked_at !== null) throw failure.notFound('API key not found');
    return row;
  };
  const createApiKey: Handler = async ({ context, body }) => {
    const caller = callerOf(context);
    const scopes = checkScopes(body.scopes);
    const expiresAt = expiryOf(kernel.now(), body.expires_in);
    const userId = await ownerOf(body.user_id);
    const { row, key } = await events.transact(caller, async (trx, emit) => {
      const created = await apiKeys.create(trx, {
        name: checkText('name', body.name), scopes, expiresAt, userId, limitPerMinute: body.limit_per_min ?? null, createdBy: `${caller.actor.kind}:${caller.actor.id}`,
      });
      await recordChange(trx, kernel.now(), caller, { action: 'api_key.created', target: { kind: 'api_key', id: created.row.id }, before: null, after: { scopes, user_id: userId } });
      emit('api_key.created', userId, { api_key_id: created.row.id });
      return created;
    });
    return reply(201, showKey(row, key));
  };
  const ownerOf = async (given: unknown): Promise<UserId | null> => {
    if (given === undefined) return null;
    const account = isUserId(given) ? await directory.find(db, given) : null;
    if (!account) throw failure.notFound('User not found');
    return account.id;
  };
  const list: Handler = async () => {
    const rows = (await apiKeys.list(db)).map((row) => ({
      id: row.id, name: row.name, prefix: row.prefix, scopes: row.scopes, user_id: row.owner_user_id, created_by: row.created_by, limit_per_min: row.limit_per_min,
      created_at: rfc3339(row.created_at), expires_at: rfc3339(row.expires_at), last_used_at: rfc3339(row.last_used_at), revoked_at: rfc3339(row.revoked_at),
    }));
    return reply(200, { api_keys: rows, total: rows.length });
  };
  const updateApiKey: Handler = async ({ context, params, body }) => {
    const row = await find(params['id']);
    const scopes = checkScopes(body.scopes);
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      await apiKeys.setScopes(trx, row.id, scopes);
      await recordChange(trx, kernel.now(), caller, { action: 'api_key.scopes_changed', target: { kind: 'api_key', id: row.id }, before: { scopes: row.scopes }, after: { scopes } });
      emit('permission.changed', row.owner_user_id, { action: 'api_key.scopes_changed', api_key_id: row.id });
    });
    return reply(200, { id: row.id, name: row.name, prefix: row.prefix, scopes, expires_at: rfc3339(row.expires_at) });
  };
  const rotateApiKey: Handler = async ({ context, params, body }) => {
    const old = await find(params['id']);
    const overlap = body.overlap === undefined || body.overlap === 0 ? 0 : parseDuration(body.overlap);
    if (overlap === null) throw failure.invalid('overlap must be seconds or a duration such as "1h"');
    const caller = callerOf(context);
    const { row, key } = await events.transact(caller, async (trx, emit) => {
      const created = await apiKeys.create(trx, {
        name: old.name, scopes: old.scopes, expiresAt: old.expires_at, userId: old.owner_user_id, limitPerMinute: old.limit_per_min, createdBy: `${caller.actor.kind}:${caller.actor.id}`,
      });
      await apiKeys.expire(trx, old.id, Math.min(kernel.now() + overlap, old.expires_at ?? Infinity));
      await recordChange(trx, kernel.now(), caller, { action: 'api_key.rotated', target: { kind: 'api_key', id: old.id }, before: { id: old.id }, after: { id: created.row.id } });
      emit('api_key.rotated', old.owner_user_id, { api_key_id: old.id, new_api_key_id: created.row.id });
      return created;
    });
    return reply(201, showKey(row, key));
  };
  const revokeApiKey: Handler = async ({ context, params }) => {
    const row = await find(params['id']);
    const caller = callerOf(context);
    await events.transact(caller, async (trx, emit) => {
      await apiKeys.expire(trx, row.id, 0);
      await recordChange(trx, kernel.now(), caller, { action: 'api_key.revoked', target: { kind: 'api_key', id: row.id }, before: { scopes: row.scopes }, after: null });
      emit('api_key.revoked', row.owner_user_id, { api_key_id: row.id });
    });
    return reply(204);
  };
  return { createApiKey, apiKeys: list, updateApiKey, rotateApiKey, revokeApiKey };
}
