import { failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { checkEmail, checkPhone, checkUsername, emailKey } from '../base/identity-rules.ts';
import { isUniqueViolation, userExists } from '../sign-in/register.ts';
import { mailVerification } from '../sign-in/mailed-links.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';

/** The names with which a user signs in. A field that is left out stays as it is. */
export interface Identity {
  readonly email?: string | undefined;
  readonly username?: string | undefined;
  readonly phone?: string | null | undefined;
}

type Changes = Pick<AccountPatch, 'email' | 'username' | 'phone'>;

/** `ctx.auth.setIdentity`, see `AuthState`. */
export async function setIdentity(
  auth: AuthState,
  context: RequestContext,
  account: Account,
  identity: Identity,
): Promise<void> {
  const changes = changesOf(account, identity);
  const fields = Object.keys(changes);
  if (fields.length === 0) return;
  const caller = asUser(callerOf(context), account.id);
  const { email } = changes;
  const moves = email !== undefined && emailKey(email) !== emailKey(account.email);
  await auth.events.transact(caller, async (change) => {
    const { trx, emit } = change;
    await auth.directory.serialise(trx);
    if (await auth.directory.isTaken(trx, takenBy(account, changes), account.id))
      throw userExists();
    const unproved = moves ? { email_verified_at: null } : {};
    await auth.directory
      .update(trx, account.id, { ...changes, ...unproved })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? userExists() : error;
      });
    emit('user.updated', account.id, { fields });
    if (!moves) return;
    emit('email.changed', account.id, {});
    await mailVerification(auth, change, { userId: account.id, email });
  });
  if (!moves || auth.mails.mode === 'none') return;
  const told = { to: account.email, account, caller };
  auth.store.afterCommit(() => auth.mails.send('email-changed', told, { email }));
}

/** The fields that differ from the account, checked. @throws AppError 400 */
function changesOf(account: Account, { email, username, phone }: Identity): Changes {
  const checked: Changes = {
    ...(email !== undefined && { email: checkEmail(email) }),
    ...(username !== undefined && { username: named(username) }),
    ...(phone !== undefined && { phone: checkPhone(phone ?? undefined) }),
  };
  return Object.fromEntries(
    Object.entries(checked).filter(([field, value]) => account[field as 'email'] !== (value ?? '')),
  );
}

function named(username: string): string {
  const checked = checkUsername(username);
  if (checked === null) throw failure.invalid('username is required');
  return checked;
}

/** An address in other case is the user's own. */
const takenBy = (account: Account, { email, username, phone }: Changes) => ({
  ...(email !== undefined && emailKey(email) !== emailKey(account.email) && { email }),
  username: username ?? null,
  phone: phone ?? null,
});
