import type { Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { assertHolds, rightsOf } from '../users/authority.ts';
import { callerOf } from '../requests/caller.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import type { UserId } from '../ids.ts';
import { pageLink } from '../mails/links.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { createUser, isUniqueViolation, readNames, userExists } from '../sign-in/register.ts';
import { giveRole, type RightsChange } from '../users/roles.ts';
import { DAY, HOUR } from '../time.ts';
import { showUser, showUsers } from './show-user.ts';
import { findRole, findUser } from './users.ts';
import { searchUsers } from './user-search.ts';

/** The list of users, and accounts that an administrator makes for other people. */
export function newUserHandlers(parts: AuthParts): {
  readonly users: Handler;
  readonly createUser: Handler;
} {
  return { users: list(parts), createUser: create(parts) };
}

function list(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async ({ query }) => {
    const { ids, next, total } = await searchUsers(parts, query);
    const accounts = await parts.directory.findMany(db, ids);
    const users = await showUsers(parts, accounts);
    // The lock of an earlier address of the user is not theirs any more.
    const shown =
      query.state === 'locked' ? users.filter((user) => user.locked_until !== null) : users;
    return reply(200, { users: shown, next_cursor: next, total });
  };
}

function create(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    parts.mailer.assertAvailable();
    const user = { ...readNames(parts, body), registering: { context, body } };
    const caller = callerOf(context);
    const work = parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      const role = await givenRole(parts, trx, body.role_id);
      if (role) assertHolds(context, await rightsOf(parts, trx, role));
      const id = await createUser(parts, trx, emit, user);
      if (role) await give(parts, { trx, emit, caller }, id, role.id);
      await mailPasswordLink(parts, trx, id, user.patch.email);
      return id;
    });
    const id = await work.catch((error: unknown) => {
      throw isUniqueViolation(error) ? userExists() : error;
    });
    return reply(201, await showUser(parts, await findUser(parts, String(id))));
  };
}

async function givenRole({ model }: AuthParts, trx: Trx, id: unknown) {
  if (id === undefined) return null;
  if (!model.roles) throw failure.notFound('Role not found');
  return findRole(trx, id as number);
}

async function give(
  parts: AuthParts,
  change: RightsChange,
  userId: UserId,
  roleId: number,
): Promise<void> {
  const account = await parts.directory.find(change.trx, userId);
  if (account) await giveRole(parts, change, account, roleId);
}

async function mailPasswordLink(
  parts: AuthParts,
  trx: Trx,
  userId: UserId,
  email: string,
): Promise<void> {
  const token = await parts.oneTime.issue(trx, 'reset', userId, {
    data: { email: emailKey(email) },
    life: DAY,
  });
  const account = await parts.directory.find(trx, userId);
  parts.mails.send(
    'account-created',
    { to: email, account },
    { link: pageLink(parts, 'reset-password', token), hours: DAY / HOUR },
  );
}
