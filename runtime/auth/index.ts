/** `@twofold/auth`: everything that a project may import. */
export { auth } from './auth.ts';
export type { AuthCapability } from './auth.ts';
export { adminApp, runAdmin } from './setup/admin-app.ts';
export type { AdminReport, AdminRequest } from './setup/admin-app.ts';
export { linkApp } from './setup/link-app.ts';
export type { LinkReport, LinkRequest } from './setup/link-app.ts';
export type { EntryLink } from './sign-in/host-login.ts';
export { mailsApp } from './mails/mails-app.ts';
export type { MailRow, MailsReport, MailsRequest } from './mails/mails-app.ts';
export { Html, html } from './mails/html.ts';
export type { HtmlValue } from './mails/html.ts';
export type {
  Mail,
  MailContent,
  MailContext,
  MailData,
  MailKind,
  MailUser,
  MailWriter,
  OwnMails,
} from './mails/kinds.ts';
export type { OwnTexts, Texts } from './pages/texts.ts';
export type { AuthModule } from './create-auth.ts';
export type { Extend, ExtendRequest } from './sessions/extend.ts';
export type { Listeners, SecurityEvent } from './events/event-types.ts';
export type {
  AfterRegister,
  AuthFunctions,
  AuthHooks,
  BeforeLogin,
  BeforeRegister,
  BreachedPasswords,
  HookRequest,
  HookUser,
} from './auth-hooks.ts';
export type { Auth } from './own/auth-api.ts';
export type { AuthModel } from '@twofold/schema';
