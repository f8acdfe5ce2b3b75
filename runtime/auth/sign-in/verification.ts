import type { Emit } from '../events/events.ts';
import type { UserId } from '../ids.ts';
import { pageLink } from '../mails/links.ts';
import { withoutLink } from '../mails/names.ts';
import { type Asker, mayMailStranger } from '../mails/stranger-mail.ts';
import type { AuthParts } from '../parts.ts';
import type { Caller } from '../requests/caller.ts';
import { MAX_LINKS, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { Trx } from '../tables.ts';
import { HOUR } from '../time.ts';

/** Tells the owner of an address that someone tried to use it for another account. */
export async function mailTaken(
  parts: AuthParts,
  email: string,
  caller: Caller,
  change: 'register' | 'change-email',
): Promise<void> {
  const account = await parts.directory.findByEmail(parts.kernel.store.db, email);
  const link = pageLink(parts, 'sign-in');
  parts.mails.send('account-exists', { to: email, account, caller }, { change, link });
}

interface Verification {
  readonly userId: UserId;
  readonly email: string;
  readonly caller: Caller;
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
  parts: AuthParts,
  trx: Trx,
  emit: Emit,
  { userId, email, caller, taken = {}, browser, registration, asker }: Verification,
): Promise<void> {
  if (parts.mailer.mode === 'none') return;
  const live = await parts.oneTime.live(trx, 'verify', userId);
  if (live.length >= MAX_LINKS) return;
  if (!(await mayMailStranger(parts, { to: email, caller }, asker))) return;
  const data = { email, browser, registration };
  const token = await parts.oneTime.issue(trx, 'verify', userId, { data, newestOnly: false });
  emit('email.verification_sent', userId, {});
  const account = await parts.directory.find(trx, userId);
  parts.mails.send(
    'verify-email',
    { to: email, account, caller },
    {
      link: pageLink(parts, 'verify-email', token),
      hours: ONE_TIME_LIFETIME.verify / HOUR,
      username: account?.username ?? '',
      taken_username: withoutLink(taken.username ?? ''),
      taken_phone: taken.phone ?? '',
    },
  );
}
