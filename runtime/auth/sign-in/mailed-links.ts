import type { Change } from '../events/events.ts';
import { pageLink } from '../mails/links.ts';
import { type Asker, mayMailStranger } from '../mails/stranger-mail.ts';
import type { AuthState } from '../state.ts';
import type { Caller } from '../base/caller.ts';
import { MAX_LINKS, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { emailKey } from '../base/identity-rules.ts';
import { HOUR, MINUTE } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import type { UserId } from '../base/ids.ts';
import { withoutLink } from '../mails/html.ts';

/** Tells the owner of an address that someone tried to use it for another account. */
export async function mailTaken(
  auth: AuthState,
  email: string,
  caller: Caller,
  change: 'register' | 'change-email',
): Promise<void> {
  const account = await auth.directory.findByEmail(auth.db, email);
  const link = pageLink(auth, 'sign-in');
  auth.mails.send('account-exists', { to: email, account, caller }, { change, link });
}

interface Verification {
  readonly userId: UserId;
  readonly email: string;
  /** The wished username and phone number that belong to another account. */
  readonly taken?: { readonly username?: string; readonly phone?: string };
  /** The browser that registered, and what it typed where the account is of another one. */
  readonly browser?: string | undefined;
  readonly asker?: Asker;
  readonly registration?: string;
}

/**
 * Sends the mail that verifies an address, if mail can be sent. There is a token only if its mail
 * goes, and an account with three of them has enough.
 */
export async function mailVerification(
  auth: AuthState,
  { trx, emit, caller }: Change,
  { userId, email, taken = {}, browser, registration, asker }: Verification,
): Promise<void> {
  if (auth.mails.mode === 'none') return;
  const live = await auth.oneTime.live(trx, 'verify', userId);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(auth, { to: email, caller }, asker))) return;
  const data = { email, browser, registration };
  const token = await auth.oneTime.issue(trx, 'verify', userId, { data, newestOnly: false });
  emit('email.verification_sent', userId, {});
  const account = await auth.directory.find(trx, userId);
  auth.mails.send(
    'verify-email',
    { to: email, account, caller },
    {
      link: pageLink(auth, 'verify-email', token),
      hours: ONE_TIME_LIFETIME.verify / HOUR,
      username: account?.username ?? '',
      taken_username: withoutLink(taken.username ?? ''),
      taken_phone: taken.phone ?? '',
    },
  );
}

/**
 * Creates a reset token and mails it in the background. There is a token only if its mail goes, and
 * an account with three of them has enough.
 */
export async function startReset(
  auth: AuthState,
  caller: Caller,
  account: Account,
  asker?: Asker,
): Promise<void> {
  const live = await auth.oneTime.live(auth.db, 'reset', account.id);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(auth, { to: account.email, caller }, asker))) return;
  const token = await auth.events.transact(caller, async ({ trx, emit }) => {
    emit('password.reset_requested', account.id, {});
    return auth.oneTime.issue(trx, 'reset', account.id, {
      data: { email: emailKey(account.email) },
      newestOnly: false,
    });
  });
  auth.mails.send(
    'reset-password',
    { to: account.email, account, caller },
    {
      link: pageLink(auth, 'reset-password', token),
      minutes: ONE_TIME_LIFETIME.reset / MINUTE,
    },
  );
}
