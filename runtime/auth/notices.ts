import type { EndedAccess } from './ended-access.ts';
import type { EventType, SecurityEvent } from './event-types.ts';
import type { AuthParts } from './parts.ts';
import { sendStrangerMail } from './stranger-mail.ts';
import { linkText } from './verification.ts';

interface Notice {
  readonly subject: string;
  readonly text: string | ((event: SecurityEvent) => string);
}

/** The mails that users get about their own accounts (ASVS 6.3.5 and 6.3.7), by event. */
const NOTICES: Readonly<Partial<Record<EventType, Notice>>> = {
  'password.changed': {
    subject: 'Your password was changed',
    text: ({ data }) => `The password of your account was changed.${listEnded(data)}`,
  },
  'password.reset': {
    subject: 'Your password was reset',
    text: ({ data }) => `The password of your account was reset.${listEnded(data)}`,
  },
  'user.impersonated': {
    subject: 'An administrator signed in as you',
    text: ({ data }) =>
      `An administrator acts as you until ${named(data['until'])}. The reason: ${named(data['reason'])}`,
  },
  'passkey.added': {
    subject: 'A passkey was added',
    text: ({ data }) => `A passkey was added to your account: ${named(data['name'])}.`,
  },
  'passkey.removed': {
    subject: 'A passkey was removed',
    text: ({ data }) => `A passkey was removed from your account: ${named(data['name'])}.`,
  },
  'passkey.cloned': {
    subject: 'A passkey may have been copied',
    text: ({ data }) =>
      `Somebody tried to sign in with what looks like a copy of your passkey ${named(data['name'])}. It was refused. Remove the passkey and make a new one.`,
  },
  'api_key.created': {
    subject: 'An API key was made',
    text: ({ data }) => `An API key that acts for you was made: ${named(data['name'])}.`,
  },
  'api_key.rotated': {
    subject: 'An API key was replaced',
    text: ({ data }) =>
      `An API key that acts for you was replaced by a new one: ${named(data['name'])}.`,
  },
  'api_key.revoked': {
    subject: 'An API key was revoked',
    text: ({ data }) => `An API key that acted for you was revoked: ${named(data['name'])}.`,
  },
  'oauth.linked': {
    subject: 'A sign-in provider was linked',
    text: ({ data }) =>
      `A provider was linked to your account: ${named(data['provider'])} can now be used to sign in.`,
  },
  'oauth.unlinked': {
    subject: 'A sign-in provider was unlinked',
    text: ({ data }) =>
      `A provider was unlinked from your account: ${named(data['provider'])} can no longer be used to sign in.`,
  },
  'token.refresh_reuse': {
    subject: 'A session was ended',
    text: 'A token of one of your sessions was used twice. The session was ended, as the token may have been copied.',
  },
};

const named = (value: unknown) => (typeof value === 'string' ? value : '');

/** Lists what a new password ended (`EndedAccess`), one item a line. */
function listEnded(data: SecurityEvent['data']): string {
  const { sessions_ended, api_keys_ended, identities_ended } = data as Partial<EndedAccess>;
  const lines = [
    ...(sessions_ended ? [`sessions: ${sessions_ended}`] : []),
    ...(api_keys_ended?.length ? [`API keys: ${api_keys_ended.join(', ')}`] : []),
    ...(identities_ended?.length ? [`sign-in through: ${identities_ended.join(', ')}`] : []),
  ];
  return lines.length === 0
    ? ' Nothing else had to end.'
    : `\n\nWhat ended with it:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

const WARNING = '\n\nIf it was not you, reset your password.\n';

/**
 * Mails users about changes of their accounts, and alerts to `auth.events.alert_email`.
 *
 * @returns the function that stops it.
 */
export function startNotices(parts: AuthParts): () => void {
  return parts.events.on('*', async (event) => {
    if (event.type.startsWith('alert.') && parts.model.events.alertEmail)
      alert(parts, parts.model.events.alertEmail, event);
    if (event.user_id === null) return;
    if (event.type === 'user.impersonated' && !notifiesImpersonation(parts)) return;
    const notice = noticeOf(event);
    if (!notice && event.type !== 'auth.locked') return;
    const account = await parts.directory.find(parts.kernel.store.db, event.user_id);
    if (!account) return;
    if (notice)
      return parts.mailer.send({
        to: account.email,
        subject: notice.subject,
        text: `${typeof notice.text === 'string' ? notice.text : notice.text(event)}${WARNING}`,
      });
    const token = await parts.oneTime.issue(parts.kernel.store.db, 'unlock', account.id);
    await sendStrangerMail(parts, {
      to: account.email,
      subject: 'Your account is locked',
      text: `Too many failed sign-ins have locked your account for a while.\n\n${linkText(parts, 'unlock', token)}`,
    });
  });
}

/**
 * The notice for an event. Access that a new password ended gets no separate mail, because the mail
 * about the password lists it.
 */
function noticeOf(event: SecurityEvent): Notice | undefined {
  const { type, data } = event;
  if ((type === 'api_key.revoked' || type === 'oauth.unlinked') && data['reason']) return undefined;
  return NOTICES[type] ?? (isNewDevice(event) ? NEW_DEVICE : undefined);
}

const notifiesImpersonation = ({ model }: AuthParts): boolean =>
  model.impersonation !== false && model.impersonation.notify;

const NEW_DEVICE: Notice = {
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
