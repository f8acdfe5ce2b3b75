import type { AuthModel } from '@twofold/schema';
import type { Caller } from '../base/caller.ts';
import type { Account } from '../users/user-directory.ts';
import { acceptedLanguages, matchLanguage } from './language.ts';
import type { Mailer } from './mail.ts';
import { mailName } from './html.ts';
import { BUILT_IN_TEXTS, builtInMail } from './built-in.ts';
import type {
  Mail,
  MailContent,
  MailContext,
  MailData,
  MailKind,
  MailWriter,
  OwnMails,
} from './kinds.ts';

/** Who gets a mail, and what is known about the language of the reader. */
export interface Recipient {
  readonly to: string;
  /** The account of the address; absent when it has none. */
  readonly account?: MailAccount | null;
  /** The request that caused the mail, whose `Accept-Language` counts after the user's `locale`. */
  readonly caller?: Caller | undefined;
}

type MailAccount = Pick<Account, 'id' | 'email' | 'username' | 'first_name' | 'last_name'> & {
  readonly locale?: string | null;
};

/** Writes and sends mails. A text that the project wrote replaces the built-in text of its kind. */
export interface Mails extends Omit<Mailer, 'send'> {
  /** Queues a mail. It is sent after the commit. */
  send<Kind extends MailKind>(kind: Kind, recipient: Recipient, data: MailData[Kind]): void;
  /** Writes a mail without sending it. */
  write<Kind extends MailKind>(kind: Kind, data: MailContext & MailData[Kind]): MailContent;
  /** Returns the language in which a mail of this kind is written to the recipient. */
  languageFor(kind: MailKind, recipient: Recipient): string;
}

export interface MailsOptions {
  readonly app: string;
  readonly pages: AuthModel['pages'];
  readonly own: OwnMails;
  readonly mailer: Mailer;
  readonly log: MailsLog;
}

interface MailsLog {
  error(about: object, message: string): void;
}

export function createMails({ app, pages, own, mailer, log }: MailsOptions): Mails {
  const offered = pages === false ? ['en'] : pages.languages;
  const languagesOf = (kind: MailKind) => {
    const mail = own[kind];
    return [...Object.keys(BUILT_IN_TEXTS), ...(typeof mail === 'object' ? Object.keys(mail) : [])];
  };
  const languageFor: Mails['languageFor'] = (kind, { account, caller }) => {
    const known = languagesOf(kind);
    const mail = own[kind];
    // The browser's wish counts among the languages that the project offers.
    const wished = typeof mail === 'object' ? [...offered, ...Object.keys(mail)] : offered;
    return (
      matchLanguage(account?.locale ? [account.locale] : [], known) ??
      matchLanguage(acceptedLanguages(caller?.language), wished) ??
      offered[0] ??
      'en'
    );
  };
  const write: Mails['write'] = (kind, data) => {
    const mail = own[kind] as Mail<typeof kind> | undefined;
    const writer = mail && writerFor(mail, data.locale, offered);
    return (writer && writeOwn(log, kind, () => writer(data))) ?? builtInMail(kind, data);
  };
  return {
    ...mailer,
    languageFor,
    write,
    send: (kind, recipient, data) => {
      const locale = languageFor(kind, recipient);
      const context = { app, locale, user: userOf(recipient.account) };
      const { subject, text, html } = write(kind, { ...context, ...data });
      mailer.send({ to: recipient.to, subject, text, ...(html && { html: String(html) }) });
    },
  };
}

/** The function of a language; without one, that of the first offered language that has one. */
function writerFor<Kind extends MailKind>(
  mail: Mail<Kind>,
  locale: string,
  offered: readonly string[],
): MailWriter<Kind> | undefined {
  if (typeof mail === 'function') return mail;
  const known = [locale, locale.split('-')[0]!, ...offered].find((each) =>
    Object.hasOwn(mail, each),
  );
  return known === undefined ? Object.values(mail)[0] : mail[known];
}

/** Null when the project's own function throws or gives no text: a mail is sent all the same. */
function writeOwn(log: MailsLog, kind: MailKind, write: () => MailContent): MailContent | null {
  const file = `src/mails/${kind}.ts`;
  try {
    const content = write();
    if (hasText(content)) return content;
    log.error({ file }, `${file} gave no subject or no text: the built-in mail was sent`);
  } catch (error) {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error({ file, stack }, `${file} failed: the built-in mail was sent`);
  }
  return null;
}

/** A line break in a subject would begin a header of its own. */
function hasText(content: MailContent | null | undefined): content is MailContent {
  const isText = (value: unknown) => typeof value === 'string' && value.trim() !== '';
  return isText(content?.subject) && isText(content?.text) && !/[\r\n]/.test(content!.subject);
}

function userOf(account: MailAccount | null | undefined): MailContext['user'] {
  if (!account) return null;
  const { id, email, username } = account;
  const [first_name, last_name] = [mailName(account.first_name), mailName(account.last_name)];
  return { id, email, username, first_name, last_name };
}
