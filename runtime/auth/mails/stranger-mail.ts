import { identifierOf } from '../sign-in/identifier.ts';
import type { MailData, MailKind } from './kinds.ts';
import type { Recipient } from './mails.ts';
import type { AuthParts } from '../parts.ts';

/**
 * Sends a mail that someone other than the owner of the address can cause. All flows together send
 * at most five an hour to one address. The caller does not learn whether it was sent.
 */
export async function sendStrangerMail<Kind extends MailKind>(
  parts: AuthParts,
  kind: Kind,
  recipient: Recipient,
  data: MailData[Kind],
): Promise<void> {
  if (await mayMailStranger(parts, recipient.to)) parts.mails.send(kind, recipient, data);
}

/** Counts a mail to an address. @returns whether it is within the limit. */
export async function mayMailStranger(parts: AuthParts, to: string): Promise<boolean> {
  const subject = identifierOf(parts, to);
  return parts.limits.allows({ policy: 'mail-identifier', subject });
}
