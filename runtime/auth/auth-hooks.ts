import type { RequestContext } from '@twofold/runtime/kernel';
import type { Listeners } from './events/event-types.ts';
import type { OwnMails } from './mails/kinds.ts';
import type { OwnTexts } from './pages/texts.ts';
import type { Extend } from './sessions/extend.ts';
import type { Profile } from './users/profile.ts';
import type { Account } from './users/user-directory.ts';

/** The part of a request that hooks see. */
export type HookRequest = Pick<RequestContext, 'id' | 'ip' | 'headers'>;

/** A user as hooks see them. The id is text, as in their row. */
export type HookUser = Omit<Profile, 'id'> & {
  readonly id: string;
  readonly email_verified: boolean;
};

/** @example hookUser(account, profile).id // '7' */
export const hookUser = ({ id, emailVerified }: Account, profile: Profile): HookUser => ({
  ...profile,
  id: String(id),
  email_verified: emailVerified,
});

/** The input of `beforeRegister`. `body` is what was sent, without the password. */
export interface BeforeRegister<Context = RequestContext> {
  readonly body: Readonly<Record<string, any>>;
  readonly request: HookRequest;
  /** No user is signed in yet, so the access rules of the schema do not apply. */
  readonly ctx: Context;
}

/** The input of `afterRegister`. */
export interface AfterRegister<Context = RequestContext> extends BeforeRegister<Context> {
  readonly user: HookUser;
}

/** The input of `beforeLogin` and `afterLogin`: the user who has proved their identity. */
export interface BeforeLogin<Context = RequestContext> {
  readonly user: HookUser;
  readonly request: HookRequest;
  readonly ctx: Context;
}

/** The input of `breachedPasswords`: `prefix` is the first 5 hex digits of the password's SHA-1. */
export interface BreachedPasswords<Context = RequestContext> {
  readonly prefix: string;
  readonly ctx: Context;
}

/**
 * The hooks that `src/auth-hooks.ts` exports as `authHooks`. A hook refuses by throwing: an
 * `AppError` is answered with its status and text, any other error with 403 `Forbidden` and a log
 * line.
 *
 * @example
 * export const authHooks = {
 *   afterRegister: async ({ user, ctx }) => {
 *     await ctx.data.profile.create({ data: { userId: user.id, bio: '' } });
 *   },
 * } satisfies types.AuthHooks;
 */
export interface AuthHooks<Context = RequestContext> {
  /** Called before the user is made. What it returns is merged into the row. */
  beforeRegister?(registration: BeforeRegister<Context>): unknown;
  /**
   * Called inside the transaction that makes the user, at a first sign-in through a provider too. A
   * throw undoes the registration.
   */
  afterRegister?(registration: AfterRegister<Context>): unknown;
  /**
   * Called before a session is opened, but not at registration. If the hook takes more than two
   * seconds, the sign-in is refused.
   */
  beforeLogin?(login: BeforeLogin<Context>): unknown;
  /** Called when the session is made, inside its transaction. A throw undoes it. */
  afterLogin?(login: BeforeLogin<Context>): unknown;
  /**
   * Returns the other 35 hex digits of every breached password whose SHA-1 begins with the prefix
   * (k-anonymity). A password among them is refused. An error is logged and refuses no password.
   */
  breachedPasswords?(
    query: BreachedPasswords<Context>,
  ): readonly string[] | Promise<readonly string[]>;
}

/** Functions that the project provides. Settings are in the manifest, not here. */
export interface AuthFunctions {
  /** Returns the data about the user that the token and the login response contain. */
  readonly extend?: Extend;
  /** Called after an event, in addition to the log and the webhooks. */
  readonly listeners?: Listeners;
  /** Called while a user signs in or chooses a password. */
  readonly hooks?: AuthHooks;
  /** Mails of the project's own, from `src/mails/`, by kind. */
  readonly mails?: OwnMails;
  /** The texts of the pages, from `src/texts/`, by language. */
  readonly texts?: OwnTexts;
}
