import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { hasScope, type RequestContext } from '@twofold/runtime/kernel';
import { object } from '@twofold/schema/shapes';
import { isUserId, parseOwnUserId, parseUserId, type UserId } from '../base/ids.ts';
import { type ApiKeyRow, checkScopes, ROOT_KEY } from '../keys/api-keys.ts';
import {
  dataScopes,
  endKey,
  expiryOf,
  keyView,
  makeKey,
  makerOf,
  newKeyView,
} from '../keys/key-changes.ts';
import { membershipsOf } from '../users/memberships.ts';
import type { AuthState } from '../state.ts';
import { presentedKey } from '../requests/authenticate.ts';
import { callerOf } from '../base/caller.ts';
import { assertProofFor } from '../requests/proof.ts';
import { checkText, isOpaqueId } from '../base/identity-rules.ts';
import type { AnyDb, Trx } from '../base/tables.ts';
import { durationOf, rfc3339 } from '../base/time.ts';
import { storedIn, tableIn } from '../users/adopted-table.ts';
import { assertHolds, assertHoldsAsMuch } from '../requests/authority.ts';
import { permissionsOf } from '../users/permissions.ts';
import { recordChange } from '../users/roles.ts';
import { adminFlow } from './flow.ts';
import { API_KEY, counted, DURATION, ID, NAMES, SHORT } from './shapes.ts';

export const createApiKey = adminFlow('POST /api/auth/admin/api-keys', {
  needs: 'admin',
  audit: {
    target: 'key:{id}',
    values: ['name', 'scopes', 'user_id', 'organization_id'],
    atomic: true,
  },
  summary: 'Make an API key; it is shown once',
  body: object(
    {
      name: SHORT,
      scopes: NAMES,
      expires_in: DURATION,
      user_id: ID,
      organization_id: { ...ID, description: 'Binds the key to this organization' },
      limit_per_min: { type: 'integer', minimum: 1, maximum: 1000000 },
    },
    ['name', 'scopes'],
  ),
  answers: { 201: ['The key', API_KEY] },
  async handle({ context, body }, auth) {
    const caller = callerOf(context);
    const scopes = grantable(context, body.scopes);
    const expiresAt = expiryOf(auth.now(), body.expires_in);
    const userId = await ownerOf(auth, body.user_id);
    const organizationId = await boundTo(auth, context, body.organization_id);
    const { row, key } = await auth.events.transact(caller, async (change) => {
      await assertFits(auth, change.trx, context, { userId, scopes });
      const name = checkText('name', body.name);
      const limitPerMinute = body.limit_per_min ?? null;
      const given = { name, scopes, expiresAt, userId, limitPerMinute, organizationId };
      return makeKey(auth, change, given, { scopes, user_id: userId });
    });
    return reply(201, newKeyView(row, key));
  },
});

export const apiKeys = adminFlow('GET /api/auth/admin/api-keys', {
  needs: 'admin',
  summary: 'API keys, without their secrets; those that act for one user',
  query: { user_id: SHORT },
  answers: { 200: ['The keys', counted('api_keys')] },
  async handle({ query }, auth) {
    const owner =
      query.user_id === undefined ? undefined : parseOwnUserId(auth.project.ids, query.user_id);
    if (owner === null) throw failure.badRequest('user_id must be an id');
    const rows = (await auth.apiKeys.list(auth.db, owner)).map((row) => ({
      ...keyView(row),
      user_id: row.owner_user_id,
      created_by: row.created_by,
      limit_per_min: row.limit_per_min,
      revoked_at: rfc3339(row.revoked_at),
    }));
    return reply(200, { api_keys: rows, total: rows.length });
  },
});

export const updateApiKey = adminFlow('PATCH /api/auth/admin/api-keys/:id', {
  needs: 'admin',
  audit: { target: 'key:{id}', values: ['scopes'], atomic: true },
  summary: 'Change what an API key may do',
  body: object({ scopes: NAMES }, ['scopes']),
  answers: { 200: ['The key', API_KEY] },
  async handle({ context, params, body }, auth) {
    const row = await findHeld(auth, context, params.id);
    const scopes = grantable(context, body.scopes);
    const caller = callerOf(context);
    await auth.events.transact(caller, async ({ trx, emit }) => {
      await assertFits(auth, trx, context, { userId: row.owner_user_id, scopes });
      await auth.apiKeys.setScopes(trx, row.id, scopes);
      await recordChange(trx, auth.now(), caller, {
        action: 'api_key.scopes_changed',
        target: { kind: 'api_key', id: row.id },
        before: { scopes: row.scopes },
        after: { scopes },
      });
      emit('permission.changed', row.owner_user_id, {
        action: 'api_key.scopes_changed',
        api_key_id: row.id,
      });
    });
    return reply(200, {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      scopes,
      expires_at: rfc3339(row.expires_at),
    });
  },
});

export const rotateApiKey = adminFlow('POST /api/auth/admin/api-keys/:id/rotate', {
  needs: 'admin',
  audit: { target: 'key:{id}', atomic: true },
  summary: 'Replace an API key; the old one works for the overlap',
  optional: true,
  body: object({ overlap: DURATION }),
  answers: { 201: ['The new key', API_KEY] },
  async handle({ context, params, body }, auth) {
    const old = await findHeld(auth, context, params.id);
    const overlap = body.overlap === undefined || body.overlap === 0 ? 0 : durationOf(body.overlap);
    if (overlap === null)
      throw failure.invalid(
        'overlap must be seconds or a duration such as "1h", a hundred years at most',
      );
    const caller = callerOf(context);
    const { row, key } = await auth.events.transact(caller, async ({ trx, emit }) => {
      await assertFits(auth, trx, context, { userId: old.owner_user_id, scopes: [] });
      const created = await auth.apiKeys.create(trx, {
        name: old.name,
        scopes: old.scopes,
        expiresAt: old.expires_at,
        userId: old.owner_user_id,
        limitPerMinute: old.limit_per_min,
        organizationId: old.organization_id,
        createdBy: makerOf(caller),
      });
      await auth.apiKeys.expire(
        trx,
        old.id,
        Math.min(auth.now() + overlap, old.expires_at ?? Infinity),
      );
      await recordChange(trx, auth.now(), caller, {
        action: 'api_key.rotated',
        target: { kind: 'api_key', id: old.id },
        before: { id: old.id },
        after: { id: created.row.id },
      });
      emit('api_key.rotated', old.owner_user_id, {
        api_key_id: old.id,
        new_api_key_id: created.row.id,
        name: created.row.name,
      });
      return created;
    });
    return reply(201, newKeyView(row, key));
  },
});

export const revokeApiKey = adminFlow('DELETE /api/auth/admin/api-keys/:id', {
  needs: 'admin',
  audit: { target: 'key:{id}', atomic: true },
  summary: 'Revoke an API key',
  answers: { 204: ['Revoked'] },
  async handle({ context, params }, auth) {
    const row = await find(auth, params.id);
    // Revoking a key whose scopes only cover the project's data needs no further rights. A key with
    // other scopes can only be revoked by a caller who holds those scopes.
    const isFree = dataScopes(auth.project);
    assertHolds(
      context,
      row.scopes.filter((scope) => !isFree(scope)),
    );
    const caller = callerOf(context);
    await auth.events.transact(caller, (change) => endKey(auth, change, row));
    return reply(204);
  },
});

/**
 * The organization that a key is to be bound to. One that the caller does not reach is as unknown as
 * one that does not exist.
 *
 * @throws AppError 400, 404
 */
async function boundTo(
  auth: AuthState,
  context: RequestContext,
  given: unknown,
): Promise<number | string | null> {
  if (given === undefined || given === null) return null;
  if (!auth.model.organizations) throw failure.invalid('organization_id needs auth.organizations');
  const id = parseUserId(String(given));
  const row =
    id === null
      ? undefined
      : await (auth.db as AnyDb)
          .selectFrom(tableIn(auth.store.dialect, auth.model.organizations))
          .select(`${storedIn(auth.model.organizations, 'id')} as id`)
          .where(storedIn(auth.model.organizations, 'id'), '=', id)
          .executeTakeFirst();
  if (!row || !reaches(context, id)) throw failure.notFound('Organization not found');
  return id;
}

/**
 * Whether the caller may make keys for an organization: as its member, by a key that is bound to
 * it, or as the operator of the server.
 */
function reaches(context: RequestContext, organization: number | string | null): boolean {
  const { principal } = context;
  const key = presentedKey(context);
  if (organization === null || principal.kind === 'host' || key?.id === ROOT_KEY.id) return true;
  const own = 'organizations' in principal ? (principal.organizations ?? []) : [];
  return [...own, ...(key?.organizations ?? [])].some(({ id }) => id === organization);
}

async function find(auth: AuthState, id = ''): Promise<ApiKeyRow> {
  const row = isOpaqueId(id) ? await auth.apiKeys.find(auth.db, id) : null;
  if (!row || row.revoked_at !== null) throw failure.notFound('API key not found');
  return row;
}

/**
 * Finds a live key. The caller must hold all its scopes and act in its organization.
 *
 * @throws AppError 403, 404
 */
async function findHeld(
  auth: AuthState,
  context: RequestContext,
  id: string | undefined,
): Promise<ApiKeyRow> {
  const row = await find(auth, id);
  assertHolds(context, row.scopes);
  if (!reaches(context, row.organization_id)) throw failure.forbidden();
  return row;
}

/** Returns the requested scopes if the caller holds all of them. @throws AppError 400, 403 */
function grantable(context: RequestContext, asked: readonly string[]): readonly string[] {
  const scopes = checkScopes(asked);
  assertHolds(context, scopes);
  return scopes;
}

/**
 * A key that acts for a user can do what that user can do. So the caller must hold every permission
 * of the user and act in all their organizations, and the scopes must be ones that the user's own
 * keys may have.
 *
 * @throws AppError 400, 403
 */
async function assertFits(
  auth: AuthState,
  trx: Trx,
  context: RequestContext,
  { userId, scopes }: { readonly userId: UserId | null; readonly scopes: readonly string[] },
): Promise<void> {
  const owner = userId === null ? null : await auth.directory.find(trx, userId);
  if (!owner) return;
  await assertHoldsAsMuch(auth, trx, context, owner);
  await assertProofFor(auth, trx, context, owner.id);
  const { organizations } = auth.model;
  const { dialect } = auth.store;
  const reached = organizations
    ? await membershipsOf({ db: trx, dialect }, organizations, owner.id)
    : [];
  if (!isOwn(context, owner.id) && !reached.every(({ id }) => reaches(context, id)))
    throw failure.forbidden();
  const permissions = await permissionsOf(trx, auth.model.roles, owner.role);
  const isFree = dataScopes(auth.project);
  const lacking = scopes.filter((scope) => !isFree(scope) && !hasScope(permissions, scope));
  if (lacking.length > 0)
    throw failure.invalid(
      `scopes must be of the project's data or permissions of the user's role: ${lacking.join(', ')}`,
    );
}

const isOwn = ({ principal }: RequestContext, userId: UserId): boolean =>
  principal.kind === 'user' && principal.id === userId;

async function ownerOf(auth: AuthState, given: unknown): Promise<UserId | null> {
  if (given === undefined) return null;
  const account = isUserId(given) ? await auth.directory.find(auth.db, given) : null;
  if (!account) throw failure.notFound('User not found');
  return account.id;
}
