import { failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { AuthParts } from '../parts.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { checkEmail, checkPhone, checkUsername, emailKey } from '../sign-in/identity-rules.ts';
import { isUniqueViolation, userExists } from '../sign-in/register.ts';
import { mailVerification } from '../sign-in/verification.ts';
import type { Account, AccountPatch } from '../users/user-directory.ts';

/** The names with which a user signs in. A field that is left out stays as it is. */
export interface Identity {
  readonly email?: string | undefined;
  readonly username?: string | undefined;
  readonly phone?: string | null | undefined;
}

type Changes = Pick<AccountPatch, 'email' | 'username' | 'phone'>;

/** `ctx.auth.setIdentity`, see `Auth`. */
export async function setIdentity(
  parts: AuthParts,
  context: RequestContext,
  account: Account,
  identity: Identity,
): Promise<void> {
  const changes = changesOf(account, identity);
  const fields = Object.keys(changes);
  if (fields.length === 0) return;
  const { events, directory } = parts;
  const caller = asUser(callerOf(context), account.id);
  const { email } = changes;
  const moves = email !== undefined && emailKey(email) !== emailKey(account.email);
  await events.transact(caller, async (trx, emit) => {
    await directory.serialise(trx);
    if (await directory.isTaken(trx, takenBy(account, changes), account.id)) throw userExists();
    const unproved = moves ? { email_verified_at: null } : {};
    await directory.update(trx, account.id, { ...changes, ...unproved }).catch((error: unknown) => {
      throw isUniqueViolation(error) ? userExists() : error;
    });
    emit('user.updated', account.id, { fields });
    if (!moves) return;
    emit('email.changed', account.id, {});
    await mailVerification(parts, trx, emit, { userId: account.id, email, caller });
  });
  if (!moves || parts.mailer.mode === 'none') return;
  const told = { to: account.email, account, caller };
  parts.kernel.store.afterCommit(() => parts.mails.send('email-changed', told, { email }));
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
