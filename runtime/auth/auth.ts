import type { Capability } from '@twofold/runtime/kernel';
import { type AuthModule, createAuth } from './create-auth.ts';
import type { AuthHooks } from './auth-hooks.ts';
import type { Listeners } from './events/event-types.ts';
import { authFlows } from './flows/index.ts';
import type { Extend } from './sessions/extend.ts';
import type { OwnMails } from './mails/kinds.ts';
import type { OwnTexts } from './pages/texts.ts';

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

/** The capability, with the functions that it was given. */
export interface AuthCapability extends Capability {
  readonly functions: AuthFunctions;
}

/**
 * Authentication as the `auth` section of the manifest configures it. Without that section, only
 * the operator of a hosting server can sign in.
 *
 * @example defineApp({ project, capabilities: [auth({ extend, listeners })] });
 */
export function auth(functions: AuthFunctions = {}): AuthCapability {
  return {
    name: 'auth',
    flows: authFlows,
    functions,
    create: (kernel, all): AuthModule =>
      createAuth({
        kernel,
        model: kernel.project.auth,
        host: kernel.project.hosting !== null || kernel.project.console !== null,
        applications: all.flatMap((each) => each.application?.(kernel) ?? []),
        ...functions,
      }),
  };
}
