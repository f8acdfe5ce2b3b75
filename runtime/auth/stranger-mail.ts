import { identifierOf } from './login.ts';
import type { Mail } from './mail.ts';
import type { AuthParts } from './parts.ts';

/**
 * Sends a mail that a stranger to the address can cause: five an hour to one address, over all
 * flows together. The caller does not learn whether it went out.
 */
export async function sendStrangerMail(parts: AuthParts, mail: Mail): Promise<void> {
  const subject = identifierOf(parts, mail.to);
  if (await parts.limits.allows({ policy: 'mail-identifier', subject })) parts.mailer.send(mail);
}
