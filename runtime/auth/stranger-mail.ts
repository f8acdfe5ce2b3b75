import { identifierOf } from './login.ts';
import type { Mail } from './mail.ts';
import type { AuthParts } from './parts.ts';

/**
 * Sends a mail that someone other than the owner of the address can cause. All flows together send
 * at most five an hour to one address. The caller does not learn whether it was sent.
 */
export async function sendStrangerMail(parts: AuthParts, mail: Mail): Promise<void> {
  const subject = identifierOf(parts, mail.to);
  if (await parts.limits.allows({ policy: 'mail-identifier', subject })) parts.mailer.send(mail);
}
