import type { Capability } from '@twofold/runtime/kernel';
import { type AuthModule, createAuth } from './create-auth.ts';
import type { AuthHooks } from './auth-hooks.ts';
import type { Listeners } from './event-types.ts';
import type { Extend } from './extend.ts';

/** Functions of the project's own. The settings stand in the manifest. */
export interface AuthFunctions {
  /** What a token carries about its user, and the login response shows. */
  readonly extend?: Extend;
  /** What happens beside the log and the webhooks after an event. */
  readonly listeners?: Listeners;
  /** Asked while a user signs in or chooses a password. */
  readonly hooks?: AuthHooks;
}

/**
 * Signing in, as the manifest's `auth` section says; without the section, the sign-in of the
 * operator of a hosting server.
 *
 * @example defineApp({ project, capabilities: [auth({ extend, listeners })] });
 */
export function auth(functions: AuthFunctions = {}): Capability {
  return {
    name: 'auth',
    create: (kernel): AuthModule =>
      createAuth({
        kernel,
        model: kernel.project.auth,
        host: kernel.project.hosting !== null,
        ...functions,
      }),
  };
}
