import type { Kysely } from 'kysely';
import type { Logger } from '@twofold/runtime/kernel';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { Profile } from './sign-in.ts';

/**
 * What a hook of sign-in works with. There is no signed-in user yet, so the schema's rules do not
 * apply to its reads and writes.
 */
export interface AuthHookContext<Db = any> {
  readonly db: Kysely<Db>;
  readonly log: Logger;
}

/** The user who is about to be signed in, after the right password or through a provider. */
export interface BeforeLogin<Db = any> {
  readonly user: Profile & { readonly email_verified: boolean };
  readonly request: Pick<RequestContext, 'id' | 'ip' | 'headers'>;
  readonly ctx: AuthHookContext<Db>;
}

/** The beginning of a password's SHA-1: its first 5 hex digits. */
export interface BreachedPasswords<Db = any> {
  readonly prefix: string;
  readonly ctx: AuthHookContext<Db>;
}

/**
 * What `src/auth-hooks.ts` exports as `authHooks`. A throw refuses: an `AppError` with its status
 * and text, anything else with 403 `Forbidden` and a line of the log.
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
   * Asked before a session is made, but not at registration. It has two seconds; a late answer
   * refuses.
   */
  readonly beforeLogin?: (login: BeforeLogin<Db>) => unknown;
  /**
   * Answers with the other 35 hex digits of the breached passwords it knows with that beginning
   * (k-anonymity). A password among them is refused; a throw is logged and refuses none.
   */
  readonly breachedPasswords?: (
    query: BreachedPasswords<Db>,
  ) => readonly string[] | Promise<readonly string[]>;
}
