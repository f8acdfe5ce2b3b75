import type { Kysely } from 'kysely';
import type { Logger } from '@twofold/runtime/kernel';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { Profile } from './sign-in.ts';

/**
 * The context of a sign-in hook. No user is signed in yet, so the access rules of the schema do not
 * apply to its reads and writes.
 */
export interface AuthHookContext<Db = any> {
  readonly db: Kysely<Db>;
  readonly log: Logger;
}

/** The input of `beforeLogin`: the user who gave the right password or came through a provider. */
export interface BeforeLogin<Db = any> {
  readonly user: Profile & { readonly email_verified: boolean };
  readonly request: Pick<RequestContext, 'id' | 'ip' | 'headers'>;
  readonly ctx: AuthHookContext<Db>;
}

/** The input of `breachedPasswords`: `prefix` is the first 5 hex digits of the password's SHA-1. */
export interface BreachedPasswords<Db = any> {
  readonly prefix: string;
  readonly ctx: AuthHookContext<Db>;
}

/**
 * The hooks that `src/auth-hooks.ts` exports as `authHooks`. A hook refuses by throwing: an
 * `AppError` is answered with its status and text, any other error with 403 `Forbidden` and a log
 * line.
 *
 * @example
 * export const authHooks = {
 *   beforeLogin: ({ user }) => {
 *     if (!user.email.endsWith('@example.com')) throw failure.forbidden('Staff only');
 *   },
 * } satisfies types.AuthHooks;
 */
export interface AuthHooks<Db = any> {
  /**
   * Called before a session is opened, but not at registration. The sign-in is refused when the
   * hook takes more than two seconds.
   */
  readonly beforeLogin?: (login: BeforeLogin<Db>) => unknown;
  /**
   * Returns the other 35 hex digits of every breached password whose SHA-1 begins with the prefix
   * (k-anonymity). A password among them is refused. An error is logged and refuses no password.
   */
  readonly breachedPasswords?: (
    query: BreachedPasswords<Db>,
  ) => readonly string[] | Promise<readonly string[]>;
}
