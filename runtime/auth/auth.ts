import type { Capability } from '@twofold/runtime/kernel';
import { type AuthModule, createAuth } from './create-auth.ts';
import type { AuthFunctions } from './auth-hooks.ts';
import { authFlows } from './flows/index.ts';

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
