import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { hasScope, type RequestContext } from '@twofold/runtime/kernel';
import { object, orNull, text } from '@twofold/schema/shapes';
import { assertFirstLeft, membershipsOf } from '../users/memberships.ts';
import { parseUserId } from '../base/ids.ts';
import { keyOf } from '../organizations/first-member.ts';
import {
  checkRole,
  mayGive,
  mayManage,
  organizationsOf,
  type OwnMembership,
  ownMembership,
  roleOf,
} from '../organizations/membership.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { signedInAccount } from '../requests/proof.ts';
import type { AnyDb, Db } from '../base/tables.ts';
import { rfc3339 } from '../base/time.ts';
import { storedIn, tableIn } from '../users/adopted-table.ts';
import { heldBy, refuseImpersonation } from '../requests/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { MANAGED, organizationFlow, UNKNOWN } from './flow.ts';
import { ID, listOf, SHORT, TIME } from './shapes.ts';

const ORGANIZATION = object({ id: ID, name: orNull('string'), role: text }, ['id', 'name', 'role']);
const MEMBER = object(
  {
    user_id: ID,
    first_name: SHORT,
    last_name: SHORT,
    username: SHORT,
    avatar_url: SHORT,
    role: SHORT,
    joined_at: TIME,
    email: { type: 'string', description: 'Only for those who manage the organization' },
  },
  ['user_id', 'role', 'joined_at'],
);

export const organizations = organizationFlow('GET /api/auth/organizations', {
  needs: 'session',
  summary: 'The organizations of the caller',
  answers: { 200: ['The organizations', listOf('organizations', ORGANIZATION)] },
  refuses: { 401: 'No valid bearer token' },
  async handle({ context }, auth) {
    const { account } = await signedInAccount(auth, context);
    const organizations = organizationsOf(auth);
    const memberships = await membershipsOf(auth.store, organizations, account.id);
    const names = await namesOf(
      auth,
      memberships.map(({ id }) => id),
    );
    const shown = memberships.map(({ id, role }) => ({ id, name: names.get(id) ?? null, role }));
    return reply(200, { organizations: shown, total: shown.length });
  },
});

/**
 * The row is written as a mutation of the caller would write it. With the rules lifted, a nested
 * `connect` would take rows from other organizations.
 */
export const createOrganization = organizationFlow('POST /api/auth/organizations', {
  needs: 'session',
  summary: 'Make an organization, with the fields of its type; the caller has the first role in it',
  body: { type: 'object', additionalProperties: true },
  answers: { 201: ['The organization', ORGANIZATION] },
  refuses: {
    400: 'A field is missing or not acceptable',
    401: 'No valid bearer token',
    403: 'Only administrators make organizations here',
  },
  async handle({ context, body }, auth) {
    await signedInAccount(auth, context);
    const organizations = organizationsOf(auth);
    if (organizations.create === 'admin' && !hasScope(heldBy(context), 'auth:manage'))
      throw failure.forbidden();
    // If a caller chose an id above the current value of the sequence, a later insert would fail
    // when the sequence reaches it.
    if (body.id !== undefined) throw failure.invalid('id must be absent: the server makes it');
    const data = context.data[entityOf(auth).singular];
    const row = await data.create({ data: body });
    const id = keyOf(auth, String(row.id));
    if (organizations.create === 'admin') await recordCreated(auth, context, body, id);
    return reply(201, {
      id,
      name: organizations.name === null ? null : (row[organizations.name] ?? null),
      role: organizations.roles[0],
    });
  },
});

export const members = organizationFlow('GET /api/auth/organizations/:id/members', {
  needs: 'session',
  summary: 'The members of an organization',
  answers: { 200: ['The members', listOf('members', MEMBER)] },
  refuses: UNKNOWN,
  async handle({ context, params }, auth) {
    const own = await ownMembership(auth, context, params.id);
    const withEmail = mayManage(organizationsOf(auth), own.role);
    const rows = await auth.directory.membersOf(auth.db, own.organization);
    const shown = rows.map(({ account, role, joinedAt }) => ({
      user_id: account.id,
      first_name: account.first_name,
      last_name: account.last_name,
      username: account.username,
      avatar_url: account.avatar_url,
      role,
      joined_at: rfc3339(joinedAt),
      ...(withEmail && { email: account.email }),
    }));
    return reply(200, { members: shown, total: shown.length });
  },
});

export const changeMember = organizationFlow('PATCH /api/auth/organizations/:id/members/:user_id', {
  needs: 'session',
  summary: 'Give a member another role',
  body: object({ role: SHORT }, ['role']),
  answers: { 200: ['The member', object({ user_id: ID, role: SHORT })] },
  refuses: { 400: 'There is no such role', ...MANAGED, 409: 'Cannot remove the last owner' },
  async handle({ context, params, body }, auth) {
    refuseImpersonation(context);
    const organizations = organizationsOf(auth);
    const { account } = await ownMembership(auth, context, params.id);
    const caller = asUser(callerOf(context), account.id);
    const { userId, role } = await auth.events.transact(caller, async ({ trx, emit }) => {
      const target = await targetOf(auth, trx, context, params);
      const { own, role: before } = target;
      const given = checkRole(organizations, body.role);
      if (!mayGive(organizations, own.role, before) || !mayGive(organizations, own.role, given))
        throw failure.forbidden();
      await trx
        .updateTable('auth_members')
        .set({ role: given })
        .where('organization_id', '=', own.organization)
        .where('user_id', '=', target.userId)
        .execute();
      if (before !== given) {
        await assertFirstLeft(trx, organizations, own.organization);
        emit('member.role_changed', target.userId, {
          organization_id: own.organization,
          before,
          role: given,
        });
      }
      return { userId: target.userId, role: given };
    });
    return reply(200, { user_id: userId, role });
  },
});

export const removeMember = organizationFlow(
  'DELETE /api/auth/organizations/:id/members/:user_id',
  {
    needs: 'session',
    summary: 'Remove a member, or leave',
    answers: { 204: ['Removed'] },
    refuses: { ...MANAGED, 409: 'Cannot remove the last owner' },
    async handle({ context, params }, auth) {
      const organizations = organizationsOf(auth);
      const { account } = await ownMembership(auth, context, params.id);
      const caller = asUser(callerOf(context), account.id);
      await auth.events.transact(caller, async ({ trx, emit }) => {
        const { own, userId, role } = await targetOf(auth, trx, context, params);
        if (userId !== account.id && !mayGive(organizations, own.role, role))
          throw failure.forbidden();
        await trx
          .deleteFrom('auth_members')
          .where('organization_id', '=', own.organization)
          .where('user_id', '=', userId)
          .execute();
        await assertFirstLeft(trx, organizations, own.organization);
        emit('member.removed', userId, { organization_id: own.organization, role });
      });
      return reply(204);
    },
  },
);

async function namesOf(
  auth: AuthState,
  ids: readonly (number | string)[],
): Promise<ReadonlyMap<number | string, string | null>> {
  const { name, ...place } = organizationsOf(auth);
  if (name === null || ids.length === 0) return new Map();
  const rows = await (auth.db as AnyDb)
    .selectFrom(tableIn(auth.store.dialect, place))
    .select([`${storedIn(place, 'id')} as id`, `${storedIn(place, name)} as name`])
    .where(storedIn(place, 'id'), 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row['id'], row['name']]));
}

/** Where only administrators make organizations, that is a change of management. */
async function recordCreated(
  auth: AuthState,
  context: RequestContext,
  body: object,
  id: number | string,
): Promise<void> {
  await auth.audit?.record(context, {
    action: 'createOrganization',
    target: `organization:${id}`,
    detail: { fields: Object.keys(body) },
  });
}

function entityOf(auth: AuthState) {
  const { entity } = organizationsOf(auth);
  const found = auth.project.entities.find(({ name }) => name === entity);
  if (!found) throw failure.notFound();
  return found;
}

interface Target {
  readonly own: OwnMembership;
  readonly userId: number | string;
  readonly role: string;
}

/** The caller's membership and the member in the path, as they are now. @throws AppError 404 */
async function targetOf(
  auth: AuthState,
  trx: Db,
  context: RequestContext,
  params: { readonly id: string; readonly user_id: string },
): Promise<Target> {
  await serialiseRights(trx, auth.store.dialect);
  const own = await ownMembership(auth, context, params.id, trx);
  const userId = parseUserId(params.user_id);
  const role = userId === null ? null : await roleOf(trx, own.organization, userId);
  if (userId === null || role === null) throw failure.notFound('Member not found');
  return { own, userId, role };
}
