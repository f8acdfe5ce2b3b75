import type { EventType, SecurityEvent } from './event-types.ts';
import type { AuthParts } from './parts.ts';
import { linkText } from './verification.ts';

/** What people are told by mail of their own account (ASVS 6.3.5 and 6.3.7), by event. */
const NOTICES: Readonly<
  Partial<Record<EventType, { readonly subject: string; readonly text: string }>>
> = {
  'password.changed': {
    subject: 'Your password was changed',
    text: 'The password of your account was changed.',
  },
  'password.reset': {
    subject: 'Your password was reset',
    text: 'The password of your account was reset, and every session ended.',
  },
  'oauth.linked': {
    subject: 'A sign-in provider was linked',
    text: 'A provider was linked to your account: it can now be used to sign in.',
  },
  'token.refresh_reuse': {
    subject: 'A session was ended',
    text: 'A token of one of your sessions was used twice. The session was ended, as the token may have been copied.',
  },
};

const WARNING = '\n\nIf it was not you, reset your password.\n';

/** Mails people what happened to their accounts, and the alerts to whoever watches. @returns what ends it. */
export function startNotices(parts: AuthParts): () => void {
  return parts.events.on('*', async (event) => {
    if (event.type.startsWith('alert.') && parts.model.events.alertEmail)
      alert(parts, parts.model.events.alertEmail, event);
    if (event.user_id === null) return;
    const notice = NOTICES[event.type] ?? (isNewDevice(event) ? NEW_DEVICE : undefined);
    if (!notice && event.type !== 'auth.locked') return;
    const account = await parts.directory.find(parts.kernel.store.db, event.user_id);
    if (!account) return;
    if (notice)
      return parts.mailer.send({
        to: account.email,
        subject: notice.subject,
        text: notice.text + WARNING,
      });
    const token = await parts.oneTime.issue(parts.kernel.store.db, 'unlock', account.id);
    parts.mailer.send({
      to: account.email,
      subject: 'Your account is locked',
      text: `Too many failed sign-ins have locked your account for a while.\n\n${linkText(parts, 'unlock', token)}`,
    });
  });
}

const NEW_DEVICE = {
  subject: 'New sign-in to your account',
  text: 'Somebody signed in to your account from a device that was not seen before.',
};

const isNewDevice = ({ type, data }: SecurityEvent) =>
  type === 'auth.login.succeeded' && data['new_device'] === true;

function alert(parts: AuthParts, to: string, { type, time, ip, data }: SecurityEvent): void {
  parts.mailer.send({
    to,
    subject: `Security alert: ${type}`,
    text: `${type} at ${time} from ${ip || 'several addresses'}\n${JSON.stringify(data)}\n`,
  });
}
