import { hasScope } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { type ApiKeyRow, checkScopes } from './api-keys.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { dataScopes } from './data-scopes.ts';
import { checkText, isOpaqueId } from '../sign-in/identity-rules.ts';
import type { UserId } from '../ids.ts';
import { ownMembership } from '../organizations/membership.ts';
import { endKey, expiryOf, keyView, makeKey, newKeyView } from './key-changes.ts';
import type { AuthParts } from '../parts.ts';
import { assertHolds } from '../users/authority.ts';
import { permissionsOf, serialiseRights } from '../users/permissions.ts';
import type { Account } from '../users/user-directory.ts';
import { assertProof } from '../requests/proof.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';

/** Routes by which users create, list, rename and revoke API keys that act for them. */
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
    const { account, sessionId } = await assertProof(parts, context);
    const scopes = checkScopes(body.scopes);
    const needed = scopes.filter((scope) => !isFree(scope));
    assertHolds(context, needed);
    await assertEffective(parts, account, needed);
    const expiresAt = expiryOf(parts.kernel.now(), body.expires_in);
    const given = body.organization_id;
    const bound = given === undefined ? null : await ownMembership(parts, context, String(given));
    const caller = asUser(callerOf(context), account.id);
    const { row, key } = await parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      await assertStillOpen(parts, trx, sessionId);
      const name = checkText('name', body.name);
      const own = { userId: account.id, organizationId: bound?.organization ?? null };
      const key = { name, scopes, expiresAt, limitPerMinute: null, ...own };
      return makeKey(parts, { trx, emit, caller }, key, { scopes });
    });
    return reply(201, newKeyView(row, key));
  };
}

function list(parts: AuthParts): Handler {
  const { apiKeys, kernel } = parts;
  return async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const rows = await apiKeys.ofUser(kernel.store.db, account.id);
    return reply(200, { api_keys: rows.map(keyView), total: rows.length });
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
    return reply(200, keyView({ ...row, name }));
  };
}

function revoke(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const { account } = await signedInAccount(parts, context);
    const caller = asUser(callerOf(context), account.id);
    const row = await findOwn(parts, account.id, params['id']);
    await parts.events.transact(caller, (trx, emit) => endKey(parts, { trx, emit, caller }, row));
    return reply(204);
  };
}

/**
 * Finds a live key of this user. Another user's key gets the same response as an unknown one.
 *
 * @throws AppError 404
 */
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

/**
 * Throws for scopes that an application gives to a role. They are for users who sign in, and a key
 * with such a scope would have no effect. @throws AppError 403.
 */
async function assertEffective(
  { kernel, model }: AuthParts,
  { role }: Account,
  scopes: readonly string[],
): Promise<void> {
  const permissions = await permissionsOf(kernel.store.db, model.roles, role);
  const lacking = scopes.filter((scope) => !hasScope(permissions, scope));
  if (lacking.length > 0)
    throw failure.forbidden(
      `A key cannot have ${lacking.join(', ')}: the role has it only for users who sign in; ` +
        'grant it to the role in the database as well',
    );
}
