import { pageLink } from '../mails/links.ts';
import { type Asker, mayMailStranger } from '../mails/stranger-mail.ts';
import type { AuthParts } from '../parts.ts';
import type { Caller } from '../requests/caller.ts';
import { MAX_LINKS, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { MINUTE } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * Creates a reset token and mails it in the background. There is a token only if its mail goes, and
 * an account with three of them has enough.
 */
export async function startReset(
  parts: AuthParts,
  caller: Caller,
  account: Account,
  asker?: Asker,
): Promise<void> {
  const live = await parts.oneTime.live(parts.kernel.store.db, 'reset', account.id);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(parts, { to: account.email, caller }, asker))) return;
  const token = await parts.events.transact(caller, async (trx, emit) => {
    emit('password.reset_requested', account.id, {});
    return parts.oneTime.issue(trx, 'reset', account.id, {
      data: { email: emailKey(account.email) },
      newestOnly: false,
    });
  });
  parts.mails.send(
    'reset-password',
    { to: account.email, account, caller },
    {
      link: pageLink(parts, 'reset-password', token),
      minutes: ONE_TIME_LIFETIME.reset / MINUTE,
    },
  );
}
