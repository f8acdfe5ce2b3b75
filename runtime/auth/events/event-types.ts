import type { RequestContext } from '@twofold/runtime/kernel';
import type { Actor } from '../base/caller.ts';

export type Severity = 'info' | 'notice' | 'warning' | 'critical';

/** All event types with their severity. */
export const EVENT_TYPES = {
  'user.registered': 'info',
  'user.setup': 'warning',
  'user.updated': 'info',
  'user.deletion_requested': 'notice',
  'user.restored': 'notice',
  'user.deleted': 'notice',
  'user.disabled': 'notice',
  'user.enabled': 'notice',
  'user.impersonated': 'warning',
  'auth.login.succeeded': 'info',
  'auth.login.failed': 'notice',
  'auth.logout': 'info',
  'auth.logout_all': 'notice',
  'auth.session_ended': 'info',
  'auth.locked': 'warning',
  'auth.unlocked': 'notice',
  'token.refreshed': 'info',
  'token.refresh_reuse': 'critical',
  'token.revoked': 'notice',
  'password.changed': 'notice',
  'password.reset_requested': 'info',
  'password.reset': 'notice',
  'email.verification_sent': 'info',
  'email.verified': 'info',
  'email.changed': 'notice',
  'oauth.linked': 'notice',
  'oauth.unlinked': 'notice',
  'oauth.refused': 'warning',
  'passkey.added': 'notice',
  'passkey.removed': 'notice',
  'passkey.cloned': 'critical',
  'organization.created': 'info',
  'organization.deleted': 'notice',
  'member.added': 'notice',
  'member.removed': 'notice',
  'member.role_changed': 'notice',
  'invitation.created': 'info',
  'invitation.accepted': 'info',
  'invitation.revoked': 'info',
  'totp.enabled': 'notice',
  'totp.disabled': 'warning',
  'recovery_codes.created': 'notice',
  'recovery_code.used': 'warning',
  'device.remembered': 'notice',
  'device.forgotten': 'info',
  'api_key.created': 'notice',
  'api_key.rotated': 'notice',
  'api_key.revoked': 'notice',
  'api_key.failed': 'warning',
  'permission.changed': 'notice',
  'rate_limit.exceeded': 'notice',
  'config.weak_secret_allowed': 'warning',
  'webhook.disabled': 'warning',
  'webhook.test': 'info',
  'alert.account_bruteforce': 'critical',
  'alert.ip_bruteforce': 'critical',
  'alert.password_spray': 'critical',
  'alert.distributed': 'critical',
  'alert.failure_spike': 'critical',
  'alert.success_after_failures': 'critical',
  'alert.refresh_reuse': 'critical',
} as const satisfies Record<string, Severity>;

export type EventType = keyof typeof EVENT_TYPES;

/** A security event as listeners, webhooks and the log receive it. */
export interface SecurityEvent {
  /** `evt_` and a ULID. */
  readonly id: string;
  readonly type: EventType;
  /** RFC 3339 in UTC. */
  readonly time: string;
  readonly severity: Severity;
  readonly user_id: number | string | null;
  readonly actor: Actor;
  readonly ip: string;
  readonly user_agent: string;
  readonly request_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A listener. It may be async. Its errors are logged and do not affect the request. */
export type Listener<Context = RequestContext> = (event: SecurityEvent, ctx: Context) => unknown;

/**
 * Listeners by event type, or `*` for all types. `src/auth-events.ts` exports them.
 *
 * @example
 * export const listeners: Listeners = { 'auth.locked': (event) => page(event.user_id) };
 */
export type Listeners<Context = RequestContext> = {
  readonly [Type in EventType | '*']?: Listener<Context>;
};
