import type { CapabilityTemplate } from '../capability.ts';
import { code, join, local, packaged } from '../code.ts';
import { renderAdmin } from './admin-file.ts';
import { renderAuth } from './settings-file.ts';

const PACKAGE = '@twofold/auth';

/** The user's optional files: path, what it exports, and which option of `auth()` it is. */
const FUNCTIONS = [
  ['src/extend.ts', 'extend', 'extend'],
  ['src/auth-hooks.ts', 'authHooks', 'hooks'],
  ['src/auth-events.ts', 'listeners', 'listeners'],
] as const;

/** Signing in. */
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
  settings: ({ auth }) => auth && code`auth: ${local('./auth.ts', 'authSettings')}`,
  types: ({ auth }) =>
    auth &&
    code`
      /** What \`src/auth-hooks.ts\` is checked against. */
      export type AuthHooks = ${packaged(PACKAGE, 'AuthHooks', { as: 'RuntimeAuthHooks', typeOnly: true })}<Database>;
    `,
  files: ({ auth }) =>
    auth
      ? [
          { path: 'src/generated/admin.ts', render: renderAdmin },
          { path: 'src/generated/auth.ts', render: () => renderAuth(auth) },
        ]
      : [],
};
