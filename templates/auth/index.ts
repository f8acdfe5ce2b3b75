import type { CapabilityTemplate } from '../capability.ts';
import { code, join, local, packaged } from '../code.ts';
import { renderAdmin } from './admin-file.ts';
import { authEnv } from './env.ts';

const PACKAGE = '@twofold/auth';

/** The user's optional files: path, exported name, and the option of `auth()` that takes it. */
const FUNCTIONS = [
  ['src/extend.ts', 'extend', 'extend'],
  ['src/auth-hooks.ts', 'authHooks', 'hooks'],
  ['src/auth-events.ts', 'listeners', 'listeners'],
] as const;

/**
 * Sign-in. A hosting server also has it without a section in the manifest: then only its operator
 * signs in.
 */
export const authTemplate: CapabilityTemplate = {
  name: 'auth',
  call(userFiles) {
    const given = FUNCTIONS.filter(([path]) => userFiles.has(path)).map(([path, name, option]) => {
      const value = local(path.replace(/^src\//, '../'), name);
      return name === option ? value : code`${option}: ${value}`;
    });
    const auth = packaged(PACKAGE, 'auth');
    return given.length === 0 ? code`${auth}()` : code`${auth}({ ${join(given, ', ')} })`;
  },
  settings: { about: 'How people sign in', as: 'authSettings', type: 'AuthModel', from: PACKAGE },
  types: ({ auth }) =>
    auth &&
    code`
      /** The type of the functions in \`src/auth-hooks.ts\`. */
      export type AuthHooks = ${packaged(PACKAGE, 'AuthHooks', { as: 'RuntimeAuthHooks', typeOnly: true })}<Database>;
    `,
  files: ({ auth }) => (auth ? [{ path: 'src/generated/admin.ts', render: renderAdmin }] : []),
  env: authEnv,
  secrets: [{ name: 'JWT_SECRET' }],
  compose: ({ auth, server }): Readonly<Record<string, string>> =>
    auth ? { APP_URL: `\${APP_URL:-http://localhost:${server.port}}` } : {},
  readme: ({ auth }) =>
    auth
      ? {
          files: [
            '| `src/extend.ts`, `src/auth-events.ts`, `src/auth-hooks.ts` | what a token carries; what happens on a security event; what is asked before a sign-in | yours |',
          ],
          endpoints: ['| `/api/auth/*`, `/api/oauth/*` | register, login, logout, refresh, me |'],
          pages: [['signing in', 'auth/docs/sign-in.md']],
        }
      : {},
  scripts: ({ auth }): Readonly<Record<string, string>> =>
    auth ? { admin: 'node src/generated/admin.ts' } : {},
  withoutInstallScript: ['bcrypt'],
  hint: `# Sign-in, tokens and API keys; everything then needs a signed-in caller unless it says PUBLIC. An email then belongs to the
# account, and the next generate names the inputs of the schema that must not write it:
# auth: {}
`,
};
