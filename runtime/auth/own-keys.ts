import { failure } from '../errors.ts';
import { type Handler, reply } from '../http/route.ts';
import { hasScope, checkScopes, type ApiKeyRow } from './api-keys.ts';
import { as, callerOf } from './caller.ts';
import { checkText } from './identity-rules.ts';
import type { AuthParts } from './parts.ts';
import { assertReauthenticated } from './reauthentication.ts';
import { recordChange } from './roles.ts';
import { parseDuration, rfc3339 } from './time.ts';

/** `POST /api/auth/api-keys`: a key that acts for the one who makes it, and never with more than he may do himself. */
export function createOwnKeys(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    const { account } = await assertReauthenticated(parts, context);
    const scopes = checkScopes(body.scopes);
    const permissions = context.principal.kind === 'user' ? context.principal.permissions : [];
    const manages = ['auth', 'host', 'apps', 'models', 'system'];
    const tooMuch = scopes.some(
      (scope) =>
        (scope === '*' || manages.includes(scope.split(':')[0]!)) && !hasScope(permissions, scope),
    );
    if (tooMuch) throw failure.forbidden();
    const expiresAt = expiryOf(parts.kernel.now(), body.expires_in);
    const caller = as(callerOf(context), account.id);
    const { row, key } = await parts.events.transact(caller, async (trx, emit) => {
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
      emit('api_key.created', account.id, { api_key_id: created.row.id });
      return created;
    });
    return reply(201, showKey(row, key));
  };
}

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
