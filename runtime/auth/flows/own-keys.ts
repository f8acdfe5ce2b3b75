import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { hasScope } from '@twofold/runtime/kernel';
import { object } from '@twofold/schema/shapes';
import type { UserId } from '../base/ids.ts';
import { type ApiKeyRow, checkScopes } from '../keys/api-keys.ts';
import { dataScopes, endKey, expiryOf, keyView, makeKey, newKeyView } from '../keys/key-changes.ts';
import { ownMembership } from '../organizations/membership.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { assertProof, assertStillOpen, signedInAccount } from '../requests/proof.ts';
import { checkText, isOpaqueId } from '../base/identity-rules.ts';
import { assertHolds } from '../requests/authority.ts';
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
  async handle({ context, body }, auth) {
    const isFree = dataScopes(auth.project);
    const { account, sessionId } = await assertProof(auth, context);
    const scopes = checkScopes(body.scopes);
    const needed = scopes.filter((scope) => !isFree(scope));
    assertHolds(context, needed);
    await assertEffective(auth, account, needed);
    const expiresAt = expiryOf(auth.now(), body.expires_in);
    const given = body.organization_id;
    const bound = given === undefined ? null : await ownMembership(auth, context, String(given));
    const caller = asUser(callerOf(context), account.id);
    const { row, key } = await auth.events.transact(caller, async (change) => {
      await serialiseRights(change.trx, auth.store.dialect);
      await assertStillOpen(auth, change.trx, sessionId);
      const name = checkText('name', body.name);
      const own = { userId: account.id, organizationId: bound?.organization ?? null };
      const key = { name, scopes, expiresAt, limitPerMinute: null, ...own };
      return makeKey(auth, change, key, { scopes });
    });
    return reply(201, newKeyView(row, key));
  },
});

export const ownKeys = flow('GET /api/auth/api-keys', {
  needs: 'session',
  summary: 'Live API keys that act for oneself, without their secrets',
  answers: { 200: ['The keys', listOf('api_keys', OWN_KEY)] },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { account } = await signedInAccount(auth, context);
    const rows = await auth.apiKeys.ofUser(auth.db, account.id);
    return reply(200, { api_keys: rows.map(keyView), total: rows.length });
  },
});

export const renameOwnKey = flow('PATCH /api/auth/api-keys/:id', {
  needs: 'session',
  summary: "Give an API key of one's own another name",
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The key', OWN_KEY] },
  refuses: { 404: 'API key not found', ...SIGNED_IN },
  async handle({ context, params, body }, auth) {
    const { account } = await signedInAccount(auth, context);
    const row = await findOwn(auth, account.id, params.id);
    const name = checkText('name', body.name);
    if (!name) throw failure.invalid('name is required');
    await auth.store.transaction((trx) => auth.apiKeys.setName(trx, row.id, name));
    return reply(200, keyView({ ...row, name }));
  },
});

export const revokeOwnKey = flow('DELETE /api/auth/api-keys/:id', {
  needs: 'session',
  summary: "Revoke an API key of one's own",
  answers: { 204: ['Revoked'] },
  refuses: { 404: 'API key not found', ...SIGNED_IN },
  async handle({ context, params }, auth) {
    const { account } = await signedInAccount(auth, context);
    const caller = asUser(callerOf(context), account.id);
    const row = await findOwn(auth, account.id, params.id);
    await auth.events.transact(caller, (change) => endKey(auth, change, row));
    return reply(204);
  },
});

/**
 * Finds a live key of this user. Another user's key gets the same response as an unknown one.
 *
 * @throws AppError 404
 */
async function findOwn(auth: AuthState, userId: UserId, id = ''): Promise<ApiKeyRow> {
  const rows = isOpaqueId(id) ? await auth.apiKeys.ofUser(auth.db, userId) : [];
  const row = rows.find((each) => each.id === id);
  if (!row) throw failure.notFound('API key not found');
  return row;
}

/**
 * Throws for scopes that an application gives to a role. They are for users who sign in, and a key
 * with such a scope would have no effect. @throws AppError 403.
 */
async function assertEffective(
  auth: AuthState,
  { role }: Account,
  scopes: readonly string[],
): Promise<void> {
  const permissions = await permissionsOf(auth.db, auth.model.roles, role);
  const lacking = scopes.filter((scope) => !hasScope(permissions, scope));
  if (lacking.length > 0)
    throw failure.forbidden(
      `A key cannot have ${lacking.join(', ')}: the role has it only for users who sign in; ` +
        'grant it to the role in the database as well',
    );
}
