import type { App } from '@twofold/runtime/kernel';
import type { AuthFunctions } from '../auth-hooks.ts';
import { MAIL_KINDS } from './built-in.ts';
import { ejectMail } from './eject.ts';
import type { MailContext, MailData, MailKind } from './kinds.ts';
import { createMails } from './mails.ts';
import { SAMPLE_USER, sampleData } from './samples.ts';
import { pagesUrl } from './links.ts';

/** A command of `generator mails`. */
export interface MailsRequest {
  readonly command: 'list' | 'preview' | 'eject';
  readonly kind?: string;
  readonly locale?: string;
}

/** The result of a command. `unknown` lists the kinds that exist. */
export type MailsReport =
  | { readonly ok: true; readonly mails: readonly MailRow[] }
  | { readonly ok: true; readonly subject: string; readonly text: string; readonly html: string }
  | { readonly ok: true; readonly path: string; readonly source: string }
  | { readonly ok: false; readonly unknown: readonly string[] }
  | { readonly ok: false; readonly refused: string };

/** A kind, and whose text is sent. */
export interface MailRow {
  readonly kind: MailKind;
  readonly text: 'yours' | 'built-in';
  readonly file: string | null;
  /** The languages in which the mail can be sent. */
  readonly languages: readonly string[];
}

/** Lists, previews and writes the mails of a project; opens no database and sends nothing. */
export function mailsApp(app: App, { command, kind, locale }: MailsRequest): MailsReport {
  const functions = functionsOf(app);
  const model = app.project.auth;
  if (!functions || !model)
    return { ok: false, refused: 'the manifest has no auth section, so no mails are sent' };
  const own = functions.mails ?? {};
  if (command === 'list') return { ok: true, mails: MAIL_KINDS.map((each) => row(each, own)) };
  if (!isKind(kind)) return { ok: false, unknown: MAIL_KINDS };
  const languages = model.pages === false ? ['en'] : model.pages.languages;
  if (command === 'eject')
    return { ok: true, path: `src/mails/${kind}.ts`, source: ejectMail(kind, languages) };
  const appUrl = (process.env['APP_URL'] ?? 'http://localhost:8080').replace(/\/+$/, '');
  const mails = createMails({
    app: app.project.name,
    pages: model.pages,
    own,
    log: { error: (_, message) => void process.stderr.write(`${message}\n`) },
    mailer: { mode: 'none', send: () => {}, assertAvailable: () => {}, drain: async () => {} },
  });
  const context: MailContext = {
    app: app.project.name,
    locale: locale ?? languages[0] ?? 'en',
    user: SAMPLE_USER,
  };
  const data = sampleData(pagesUrl({ model, config: { appUrl } }))[kind];
  const { subject, text, html } = mails.write(kind, { ...context, ...data } as MailContext &
    MailData[typeof kind]);
  return { ok: true, subject, text, html: html === undefined ? '' : String(html) };
}

function row(kind: MailKind, own: NonNullable<AuthFunctions['mails']>): MailRow {
  const mail = own[kind];
  if (!mail) return { kind, text: 'built-in', file: null, languages: ['en', 'de', 'fr', 'es'] };
  const languages = typeof mail === 'object' ? Object.keys(mail) : [];
  return { kind, text: 'yours', file: `src/mails/${kind}.ts`, languages };
}

const isKind = (kind: string | undefined): kind is MailKind =>
  (MAIL_KINDS as readonly string[]).includes(kind ?? '');

function functionsOf({ capabilities = [] }: App): AuthFunctions | undefined {
  const auth = capabilities.find(({ name }) => name === 'auth');
  return auth && (auth as typeof auth & { readonly functions?: AuthFunctions }).functions;
}
