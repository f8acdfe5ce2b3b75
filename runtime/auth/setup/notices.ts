import { deviceKind } from '../base/caller.ts';
import type { EndedAccess } from '../sign-in/ended-access.ts';
import type { EventType, SecurityEvent } from '../events/event-types.ts';
import { pageLink } from '../mails/links.ts';
import type { MailData, MailKind } from '../mails/kinds.ts';
import { ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import { mayMailStranger } from '../mails/stranger-mail.ts';
import { MINUTE } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';

/** A kind of mail with its data. */
type Notice = { [Kind in MailKind]: readonly [Kind, MailData[Kind]] }[MailKind];

interface Links {
  readonly account: string;
  readonly forgot: string;
}

type NoticeOf = (event: SecurityEvent, links: Links) => Notice;

/** The mails that users get about their own accounts (ASVS 6.3.5 and 6.3.7), by event. */
const NOTICES: Readonly<Partial<Record<EventType, NoticeOf>>> = {
  'password.changed': ({ data }, { forgot }) => passwordNotice('changed', data, forgot),
  'password.reset': ({ data }, { forgot }) => passwordNotice('reset', data, forgot),
  'api_key.created': ({ data }, { account: link }) => [
    'api-key-added',
    { change: 'added', name: text(data['name']), link },
  ],
  'api_key.rotated': ({ data }, { account: link }) => [
    'api-key-added',
    { change: 'replaced', name: text(data['name']), link },
  ],
  'api_key.revoked': ({ data }, { account: link }) => [
    'api-key-added',
    { change: 'removed', name: text(data['name']), link },
  ],
  'oauth.linked': ({ data }, { account: link }) => [
    'identity-linked',
    { change: 'added', provider: text(data['provider']), link },
  ],
  'oauth.unlinked': ({ data }, { account: link }) => [
    'identity-linked',
    { change: 'removed', provider: text(data['provider']), link },
  ],
  'user.impersonated': ({ data, time }, { account: link }) => [
    'impersonated',
    { reason: text(data['reason']), time: shortTime(time), link },
  ],
  'passkey.added': passkeyNotice('added'),
  'passkey.removed': passkeyNotice('removed'),
  'passkey.cloned': passkeyNotice('cloned'),
  'totp.enabled': factorNotice('enabled'),
  'totp.disabled': factorNotice('disabled'),
  'recovery_codes.created': factorNotice('recovery-codes'),
  'recovery_code.used': ({ data }, { account: link }) => [
    'recovery-code-used',
    { left: Number(data['left']), link },
  ],
  'token.refresh_reuse': (_, { account: link }) => ['refresh-reuse', { link }],
};

const NEW_DEVICE: NoticeOf = ({ user_agent, ip, time }, { account: link }) => [
  'new-device',
  { link, device: deviceKind(user_agent), ip, time: shortTime(time) },
];

function passkeyNotice(change: MailData['passkey-added']['change']): NoticeOf {
  return ({ data }, { account: link }) => [
    'passkey-added',
    { change, name: text(data['name']), link },
  ];
}

function factorNotice(change: MailData['second-factor-changed']['change']): NoticeOf {
  return (_, { account: link }) => ['second-factor-changed', { change, link }];
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** `2026-05-04 10:30 UTC` */
const shortTime = (rfc3339: string) => `${rfc3339.slice(0, 16).replace('T', ' ')} UTC`;

/** The mail about a new password lists what ended with the old one. */
function passwordNotice(
  change: 'changed' | 'reset',
  data: SecurityEvent['data'],
  link: string,
): Notice {
  const ended = data as Partial<EndedAccess>;
  return [
    'password-changed',
    {
      change,
      link,
      sessions_ended: ended.sessions_ended || null,
      devices_ended: ended.devices_ended || null,
      api_keys_ended: ended.api_keys_ended ?? [],
      identities_ended: ended.identities_ended ?? [],
      passkeys_ended: ended.passkeys_ended ?? [],
    },
  ];
}

/**
 * Mails users about changes of their accounts, and alerts to `auth.events.alert_email`.
 *
 * @returns the function that stops it.
 */
export function startNotices(auth: AuthState): () => void {
  const links = { account: pageLink(auth, 'account'), forgot: pageLink(auth, 'forgot-password') };
  return auth.events.on('*', async (event) => {
    if (event.type.startsWith('alert.') && auth.model.events.alertEmail)
      alert(auth, auth.model.events.alertEmail, event);
    if (event.user_id === null) return;
    if (event.type === 'user.impersonated' && !notifiesImpersonation(auth)) return;
    const notice = noticeOf(event, links);
    if (!notice && event.type !== 'auth.locked') return;
    const account = await auth.directory.find(auth.db, event.user_id);
    if (!account) return;
    if (notice) auth.mails.send(notice[0], { to: account.email, account }, notice[1]);
    else await mailUnlock(auth, account);
  });
}

async function mailUnlock(auth: AuthState, account: Account): Promise<void> {
  if (!(await mayMailStranger(auth, { to: account.email }))) return;
  const { db } = auth;
  const token = await auth.oneTime.issue(db, 'unlock', account.id, { newestOnly: false });
  auth.mails.send(
    'unlock',
    { to: account.email, account },
    { link: pageLink(auth, 'unlock', token), minutes: ONE_TIME_LIFETIME.unlock / MINUTE },
  );
}

/** Events that are part of another one when they have a `reason`. */
const CONSEQUENCES: ReadonlySet<EventType> = new Set([
  'api_key.revoked',
  'oauth.unlinked',
  'recovery_codes.created',
]);

/**
 * The notice for an event. Access that a new password ended gets no separate mail, because the mail
 * about the password lists it.
 */
function noticeOf(event: SecurityEvent, links: Links): Notice | undefined {
  const { type, data } = event;
  if (CONSEQUENCES.has(type) && data['reason']) return undefined;
  if (type === 'passkey.removed' && data['reason'] === 'password reset') return undefined;
  const make = NOTICES[type] ?? (isNewDevice(event) ? NEW_DEVICE : undefined);
  return make?.(event, links);
}

const isNewDevice = ({ type, data }: SecurityEvent) =>
  type === 'auth.login.succeeded' && data['new_device'] === true;

const notifiesImpersonation = (auth: AuthState): boolean =>
  auth.model.impersonation !== false && auth.model.impersonation.notify;

function alert(auth: AuthState, to: string, { type, time, ip, data }: SecurityEvent): void {
  auth.mails.send('alert', { to }, { type, time, ip, details: JSON.stringify(data) });
}
