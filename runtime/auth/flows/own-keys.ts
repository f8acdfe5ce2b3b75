import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { hasScope } from '@twofold/runtime/kernel';
import { object } from '@twofold/schema/shapes';
import type { UserId } from '../ids.ts';
import { type ApiKeyRow, checkScopes } from '../keys/api-keys.ts';
import { dataScopes } from '../keys/data-scopes.ts';
import { endKey, expiryOf, keyView, makeKey, newKeyView } from '../keys/key-changes.ts';
import { ownMembership } from '../organizations/membership.ts';
import type { AuthParts } from '../parts.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { assertProof } from '../requests/proof.ts';
import { checkText, isOpaqueId } from '../sign-in/identity-rules.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';
import { assertHolds } from '../users/authority.ts';
import { permissionsOf, serialiseRights } from '../users/permissions.ts';
import type { Account } from '../users/user-directory.ts';
import { flow, SIGNED_IN } from './flow.ts';
import { API_KEY, DURATION, ID, listOf, NAMES, OWN_KEY, SHORT } from './shapes.ts';

export const createOwnKey = flow('POST /api/auth/api-keys', {
  needs: 'session',
  summary: 'Make an API key that acts for oneself; the key is shown once',
  body: object(
    {
      name: SHORT,
      scopes: NAMES,
      expires_in: DURATION,
      organization_id: {
        ...ID,
        description: "Binds the key to this one of the user's organizations",
      },
    },
    ['name', 'scopes'],
  ),
  answers: { 201: ['The key', API_KEY] },
  refuses: { 403: 'Reauthentication required', 404: 'Organization not found', ...SIGNED_IN },
  async handle({ context, body }, parts) {
    const isFree = dataScopes(parts.kernel.project);
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
  },
});

export const ownKeys = flow('GET /api/auth/api-keys', {
  needs: 'session',
  summary: 'Live API keys that act for oneself, without their secrets',
  answers: { 200: ['The keys', listOf('api_keys', OWN_KEY)] },
  refuses: SIGNED_IN,
  async handle({ context }, parts) {
    const { apiKeys, kernel } = parts;
    const { account } = await signedInAccount(parts, context);
    const rows = await apiKeys.ofUser(kernel.store.db, account.id);
    return reply(200, { api_keys: rows.map(keyView), total: rows.length });
  },
});

export const renameOwnKey = flow('PATCH /api/auth/api-keys/:id', {
  needs: 'session',
  summary: "Give an API key of one's own another name",
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The key', OWN_KEY] },
  refuses: { 404: 'API key not found', ...SIGNED_IN },
  async handle({ context, params, body }, parts) {
    const { kernel, apiKeys } = parts;
    const { account } = await signedInAccount(parts, context);
    const row = await findOwn(parts, account.id, params.id);
    const name = checkText('name', body.name);
    if (!name) throw failure.invalid('name is required');
    await kernel.store.transaction((trx) => apiKeys.setName(trx, row.id, name));
    return reply(200, keyView({ ...row, name }));
  },
});

export const revokeOwnKey = flow('DELETE /api/auth/api-keys/:id', {
  needs: 'session',
  summary: "Revoke an API key of one's own",
  answers: { 204: ['Revoked'] },
  refuses: { 404: 'API key not found', ...SIGNED_IN },
  async handle({ context, params }, parts) {
    const { account } = await signedInAccount(parts, context);
    const caller = asUser(callerOf(context), account.id);
    const row = await findOwn(parts, account.id, params.id);
    await parts.events.transact(caller, (trx, emit) => endKey(parts, { trx, emit, caller }, row));
    return reply(204);
  },
});

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
