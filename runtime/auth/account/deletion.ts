import type { Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { endKeys } from '../sessions/ended-access.ts';
import type { Emit } from '../events/events.ts';
import { pageLink } from '../mails/links.ts';
import { assertNotLastFirst } from '../organizations/membership.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { assertOwnerLeft } from '../users/owners.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { assertProof } from '../requests/proof.ts';
import { assertStillOpen } from '../steps/reauthentication.ts';
import { clearRefreshCookie } from '../sessions/refresh-cookie.ts';
import type { RightsChange } from '../users/roles.ts';
import { rfc3339 } from '../time.ts';
import type { Account } from '../users/user-directory.ts';
import { purgeAccounts } from './purge.ts';

/**
 * `DELETE /api/auth/me`: closes the account at once. It is deleted when the grace period is over.
 */
export function deleteMe(parts: AuthParts): Handler {
  const { kernel, model, mailer, events } = parts;
  const { delete: allowed, grace } = model.account;
  return async ({ context, koa }) => {
    if (!allowed) throw failure.notFound();
    const { account, sessionId } = await assertProof(parts, context);
    // Only the mail contains the link that keeps the account, so there must be a mailer.
    if (grace > 0) mailer.assertAvailable();
    const deletionAt = kernel.now() + grace;
    const caller = asUser(callerOf(context), account.id);
    const token = await events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, kernel.store.dialect);
      await assertStillOpen(parts, trx, sessionId);
      return close(parts, { trx, emit, caller }, account, deletionAt);
    });
    clearRefreshCookie(parts, koa);
    if (grace > 0) mailRestoreLink(parts, account, token, deletionAt);
    else parts.background.run(() => purgeAccounts(parts));
    return reply(200, { deletion_at: rfc3339(deletionAt) });
  };
}

/** Ends all access to an account, after `serialiseRights`. @returns the token that restores it. */
async function close(
  parts: AuthParts,
  change: RightsChange,
  account: Account,
  deletionAt: number,
): Promise<string> {
  const { trx, emit } = change;
  const { kernel, directory, sessions, oneTime, model } = parts;
  await directory.update(trx, account.id, {
    deletion_at: deletionAt,
    tokens_valid_after: kernel.now(),
  });
  await assertOwnerLeft(parts, trx, account);
  await assertNotLastFirst(parts, trx, account.id);
  await sessions.endAll(trx, account.id, 'account deleted');
  await oneTime.endAll(trx, account.id);
  await endKeys(parts, change, account, 'account deleted');
  emit('user.deletion_requested', account.id, { deletion_at: rfc3339(deletionAt) });
  return oneTime.issue(trx, 'restore', account.id, { life: model.account.grace });
}

function mailRestoreLink(
  parts: AuthParts,
  account: Account,
  token: string,
  deletionAt: number,
): void {
  parts.mails.send(
    'account-deletion',
    { to: account.email, account },
    {
      link: pageLink(parts, 'restore', token),
      date: new Date(deletionAt).toISOString().slice(0, 10),
    },
  );
}

/** `POST /api/auth/restore`: by the link of the mail, until the account goes. */
export function restore(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    await parts.events.transact(callerOf(context), async (trx, emit) => {
      const { userId } = await parts.oneTime.consume(trx, 'restore', body.token);
      const account = await parts.directory.find(trx, userId);
      if (!account || !(await restoreAccount(parts, trx, emit, account))) throw invalidToken();
    });
    return reply(200, { message: 'Account restored' });
  };
}

/**
 * Opens an account again whose owner has deleted it. Its sessions and keys have ended for good.
 *
 * @returns whether it could still be restored.
 */
export async function restoreAccount(
  { kernel, oneTime }: AuthParts,
  trx: Trx,
  emit: Emit,
  { id }: Pick<Account, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('auth_users')
    .set({ deletion_at: null, updated_at: kernel.now() })
    .where('user_id', '=', id)
    .where('deletion_at', '>', kernel.now())
    .where('emptied_at', 'is', null)
    .executeTakeFirst();
  if (Number(numUpdatedRows) === 0) return false;
  await oneTime.endAll(trx, id);
  emit('user.restored', id, {});
  return true;
}
