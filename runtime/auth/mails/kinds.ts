import type { Html } from './html.ts';

/** The data of each kind of mail, besides what every mail has (`MailContext`). */
export interface MailData {
  /** Sent for a new account, and whenever its owner asks again. */
  'verify-email': {
    readonly link: string;
    readonly hours: number;
    /** The wished username, if it belongs to another account; else empty. */
    readonly taken_username: string;
    /** The requested phone number, if it belongs to another account; else empty. */
    readonly taken_phone: string;
    readonly username: string;
  };
  /** Sent to the new address. */
  'change-email': { readonly link: string; readonly hours: number };
  /** Sent to the old address. */
  'email-changed': { readonly email: string };
  'reset-password': { readonly link: string; readonly minutes: number };
  /** Lists what ended together with the old password. */
  'password-changed': {
    readonly change: 'changed' | 'reset';
    readonly link: string;
    /** `null` when no session ended. */
    readonly sessions_ended: number | null;
    /** Remembered devices; `null` when none was forgotten. */
    readonly devices_ended: number | null;
    readonly api_keys_ended: readonly string[];
    readonly identities_ended: readonly string[];
    readonly passkeys_ended: readonly string[];
  };
  unlock: { readonly link: string; readonly minutes: number };
  'new-device': {
    readonly link: string;
    readonly device: string;
    readonly ip: string;
    readonly time: string;
  };
  /** Has a link, a code, or both; what it does not have is empty. */
  'sign-in': { readonly link: string; readonly code: string; readonly minutes: number };
  /** Sent when somebody used this address, which has an account already. */
  'account-exists': { readonly change: 'register' | 'change-email'; readonly link: string };
  invitation: {
    readonly link: string;
    readonly organization: string;
    readonly role: string;
    /** The name of the member who invites; empty when unknown. */
    readonly inviter: string;
    readonly days: number;
  };
  /** An administrator made the account. */
  'account-created': { readonly link: string; readonly hours: number };
  'api-key-added': {
    readonly change: 'added' | 'replaced' | 'removed';
    readonly name: string;
    readonly link: string;
  };
  'identity-linked': {
    readonly change: 'added' | 'removed';
    readonly provider: string;
    readonly link: string;
  };
  'passkey-added': {
    /** `cloned`: a sign-in with what may be a copy was refused. */
    readonly change: 'added' | 'removed' | 'cloned';
    readonly name: string;
    readonly link: string;
  };
  'second-factor-changed': {
    readonly change: 'enabled' | 'disabled' | 'recovery-codes' | 'removed';
    readonly link: string;
  };
  'recovery-code-used': { readonly left: number; readonly link: string };
  'refresh-reuse': { readonly link: string };
  'account-deletion': { readonly link: string; readonly date: string };
  impersonated: { readonly reason: string; readonly time: string; readonly link: string };
  /** Sent to `auth.events.alert_email`. */
  alert: {
    readonly type: string;
    readonly time: string;
    readonly ip: string;
    /** JSON. */
    readonly details: string;
  };
}

export type MailKind = keyof MailData;

/** The data that every mail gets. */
export interface MailContext {
  /** The name of the project. */
  readonly app: string;
  /** The language of the mail, such as `de`. */
  readonly locale: string;
  /** The owner of the address; `null` when the address has no account yet. */
  readonly user: MailUser | null;
}

export interface MailUser {
  readonly id: number | string;
  readonly email: string;
  readonly username: string;
  readonly first_name: string;
  readonly last_name: string;
}

/** What a mail says. `html` is optional; mail programs that show no HTML show `text`. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html?: Html | string;
}

/** Writes the mail of a kind. */
export type MailWriter<Kind extends MailKind> = (data: MailContext & MailData[Kind]) => MailContent;

/**
 * A mail of one's own, in `src/mails/<kind>.ts`: one function, or one for each language.
 *
 * @example
 * export const mail: Mail<'reset-password'> = ({ app, link, minutes }) => ({
 *   subject: `Your password for ${app}`,
 *   text: `Follow this link within ${minutes} minutes: ${link}`,
 *   html: html`<p><a href="${link}">Choose a new password</a> within ${minutes} minutes.</p>`,
 * });
 */
export type Mail<Kind extends MailKind> =
  | MailWriter<Kind>
  | { readonly [language: string]: MailWriter<Kind> };

/** The mails of a project, by kind. */
export type OwnMails = { readonly [Kind in MailKind]?: Mail<Kind> };

/**
 * A built-in mail. `{name}` stands for a value of the mail's data. A line is left out when one of
 * its values is empty.
 */
export interface MailText {
  readonly subject: string;
  readonly body: readonly string[];
  /** Label of the link, if the mail has one. */
  readonly action?: string;
  /** Lines below the link. */
  readonly after?: readonly string[];
}

/** Kinds whose text depends on the value `change` have a text for each further value. */
type Variant =
  | 'password-changed:reset'
  | 'account-exists:change-email'
  | 'api-key-added:replaced'
  | 'api-key-added:removed'
  | 'identity-linked:removed'
  | 'passkey-added:cloned'
  | 'passkey-added:removed'
  | 'second-factor-changed:disabled'
  | 'second-factor-changed:recovery-codes'
  | 'second-factor-changed:removed';

/** All mails of one language. */
export type MailTexts = Readonly<Record<MailKind | Variant, MailText>>;
