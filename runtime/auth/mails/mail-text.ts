import type { MailKind } from './kinds.ts';

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
