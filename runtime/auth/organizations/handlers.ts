import { storedIn, tableIn } from '../users/adopted-table.ts';
import type { AnyDb, Db } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { type RequestContext, hasScope } from '@twofold/runtime/kernel';
import { heldBy, refuseImpersonation } from '../users/authority.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { parseUserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { rfc3339 } from '../time.ts';
import { keyOf } from './first-member.ts';
import { invitationHandlers } from './invitations.ts';
import { organizationsOf, ownMembership, roleOf, type OwnMembership } from './membership.ts';
import { membershipsOf } from './memberships.ts';
import { assertFirstLeft, checkRole, mayGive, mayManage } from './roles.ts';

/** Routes of organizations and their members. */
export function organizationHandlers(parts: AuthParts) {
  return {
    organizations: list(parts),
    createOrganization: create(parts),
    members: members(parts),
    changeMember: change(parts),
    removeMember: remove(parts),
    ...invitationHandlers(parts),
  };
}

function list(parts: AuthParts): Handler {
  return async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const organizations = organizationsOf(parts);
    const memberships = await membershipsOf(parts.kernel.store, organizations, account.id);
    const names = await namesOf(
      parts,
      memberships.map(({ id }) => id),
    );
    const shown = memberships.map(({ id, role }) => ({ id, name: names.get(id) ?? null, role }));
    return reply(200, { organizations: shown, total: shown.length });
  };
}

async function namesOf(
  parts: AuthParts,
  ids: readonly (number | string)[],
): Promise<ReadonlyMap<number | string, string | null>> {
  const { name, ...place } = organizationsOf(parts);
  if (name === null || ids.length === 0) return new Map();
  const rows = await (parts.kernel.store.db as AnyDb)
    .selectFrom(tableIn(parts.kernel.store.dialect, place))
    .select([`${storedIn(place, 'id')} as id`, `${storedIn(place, name)} as name`])
    .where(storedIn(place, 'id'), 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row['id'], row['name']]));
}

/**
 * The row is written as a mutation of the caller would write it. With the rules lifted, a nested
 * `connect` would take rows from other organizations.
 */
function create(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    await signedInAccount(parts, context);
    const organizations = organizationsOf(parts);
    if (organizations.create === 'admin' && !hasScope(heldBy(context), 'auth:manage'))
      throw failure.forbidden();
    // If a caller chose an id above the current value of the sequence, a later insert would fail
    // when the sequence reaches it.
    if (body.id !== undefined) throw failure.invalid('id must be absent: the server makes it');
    const data = context.data[entityOf(parts).singular];
    const row = await data.create({ data: body });
    const id = keyOf(parts.kernel, String(row.id));
    if (organizations.create === 'admin') await recordCreated(parts, context, body, id);
    return reply(201, {
      id,
      name: organizations.name === null ? null : (row[organizations.name] ?? null),
      role: organizations.roles[0],
    });
  };
}

/** Where only administrators make organizations, that is a change of management. */
async function recordCreated(
  { kernel }: AuthParts,
  context: RequestContext,
  body: object,
  id: number | string,
): Promise<void> {
  await kernel.audit?.record(context, {
    action: 'createOrganization',
    target: `organization:${id}`,
    detail: { fields: Object.keys(body) },
  });
}

function entityOf(parts: AuthParts) {
  const { entity } = organizationsOf(parts);
  const found = parts.kernel.project.entities.find(({ name }) => name === entity);
  if (!found) throw failure.notFound();
  return found;
}

function members(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const own = await ownMembership(parts, context, params['id']);
    const withEmail = mayManage(organizationsOf(parts), own.role);
    const rows = await parts.directory.membersOf(parts.kernel.store.db, own.organization);
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
  };
}

function change(parts: AuthParts): Handler {
  return async ({ context, params, body }) => {
    refuseImpersonation(context);
    const organizations = organizationsOf(parts);
    const { account } = await ownMembership(parts, context, params['id']);
    const caller = asUser(callerOf(context), account.id);
    const { userId, role } = await parts.events.transact(caller, async (trx, emit) => {
      const target = await targetOf(parts, trx, context, params);
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
  };
}

interface Target {
  readonly own: OwnMembership;
  readonly userId: number | string;
  readonly role: string;
}

/** The caller's membership and the member in the path, as they are now. @throws AppError 404 */
async function targetOf(
  parts: AuthParts,
  trx: Db,
  context: RequestContext,
  params: Readonly<Record<string, string>>,
): Promise<Target> {
  await serialiseRights(trx, parts.kernel.store.dialect);
  const own = await ownMembership(parts, context, params['id'], trx);
  const userId = parseUserId(params['user_id'] ?? '');
  const role = userId === null ? null : await roleOf(trx, own.organization, userId);
  if (userId === null || role === null) throw failure.notFound('Member not found');
  return { own, userId, role };
}

function remove(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const organizations = organizationsOf(parts);
    const { account } = await ownMembership(parts, context, params['id']);
    const caller = asUser(callerOf(context), account.id);
    await parts.events.transact(caller, async (trx, emit) => {
      const { own, userId, role } = await targetOf(parts, trx, context, params);
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
  };
}
