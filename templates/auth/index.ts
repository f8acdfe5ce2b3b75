import {
  isNeededIn,
  providerSettings,
  type OAuthProvider,
  type Project,
  first,
} from '@twofold/schema';
import { whenInstalled, type CapabilityTemplate, type EnvSetting } from '../capability.ts';
import { code, join, local, packaged, runtimeType, file, HEADER, type Code } from '../code.ts';

const PACKAGE = '@twofold/auth';

/** The user's optional files: path, exported name, and the option of `auth()` that takes it. */
const FUNCTIONS = [
  ['src/extend.ts', 'extend', 'extend'],
  ['src/auth-hooks.ts', 'authHooks', 'hooks'],
  ['src/auth-events.ts', 'listeners', 'listeners'],
] as const;

/** An option with one member for each file of a folder: `mails: { unlock: unlockMail }`. */
function filesOf(userFiles: ReadonlySet<string>, folder: string, name: string): Code | null {
  const files = [...userFiles].filter((path) => path.startsWith(`src/${folder}/`)).sort();
  if (files.length === 0) return null;
  const members = files.map((path) => {
    const key = path.slice(`src/${folder}/`.length, -'.ts'.length);
    const words = key.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase());
    const as = `${words}${first(name).toUpperCase()}${name.slice(1)}`;
    return code`${/^\w+$/.test(key) ? key : `'${key}'`}: ${local(path.replace(/^src\//, '../'), name, as)}`;
  });
  return code`${folder}: { ${join(members, ', ')} }`;
}

/** A type of the package, under a name that no type of the schema has. */
const ofPackage = (name: string) =>
  packaged(PACKAGE, name, { as: `Runtime${name}`, typeOnly: true });

/**
 * Sign-in. A hosting server also has it without a section in the manifest: then only its operator
 * signs in.
 */
export const authTemplate: CapabilityTemplate = {
  name: 'auth',
  call(userFiles, project) {
    if (!isNeededIn(project, 'auth'))
      return whenInstalled(PACKAGE, `(await import('${PACKAGE}')).auth()`);
    const given = FUNCTIONS.filter(([path]) => userFiles.has(path)).map(([path, name, option]) => {
      const value = local(path.replace(/^src\//, '../'), name);
      return name === option ? value : code`${option}: ${value}`;
    });
    const folders = [filesOf(userFiles, 'mails', 'mail'), filesOf(userFiles, 'texts', 'texts')];
    const all = [...given, ...folders.filter((each) => each !== null)];
    const auth = packaged(PACKAGE, 'auth');
    return all.length === 0 ? code`${auth}()` : code`${auth}({ ${join(all, ', ')} })`;
  },
  settings: { about: 'How people sign in', as: 'authSettings', type: 'AuthModel', from: PACKAGE },
  types: ({ auth }) =>
    auth &&
    code`
      /** The type of the function in \`src/extend.ts\`. */
      export type Extend = ${ofPackage('Extend')}<Context>;

      /** The type of the functions in \`src/auth-hooks.ts\`. */
      export type AuthHooks = ${ofPackage('AuthHooks')}<Context>;

      /** The type of the functions in \`src/auth-events.ts\`. */
      export type Listeners = ${ofPackage('Listeners')}<Context>;

      /** The type of the functions in \`src/credentials.ts\`. */
      export type Credentials = readonly ${runtimeType('Credential')}<Context>[];
    `,
  context: ({ auth }) => auth && packaged(PACKAGE, 'Auth', { as: 'RuntimeAuth', typeOnly: true }),
  files: ({ auth }) => (auth ? [{ path: 'src/generated/admin.ts', render: renderAdmin }] : []),
  env: authEnv,
  secrets: [{ name: 'JWT_SECRET' }],
  compose: ({ auth, server }): Readonly<Record<string, string>> =>
    auth ? { APP_URL: `\${APP_URL:-http://localhost:${server.port}}` } : {},
  readme: ({ auth }) =>
    auth
      ? {
          files: [
            '| `src/mails/<kind>.ts`, `src/texts/<language>.ts` | mails and the words of the pages, where the built-in ones are not yours: `npm run generator -- mails` | yours |',
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

/** `src/generated/admin.ts`: the script of `npm run admin`, which the production image includes. */
function renderAdmin(): string {
  return file(
    HEADER,
    code`
      await ${packaged('@twofold/auth', 'runAdmin')}(${local('./app.ts', 'app')});
    `,
  );
}

/** The settings of sign-in for `.env`. */
function authEnv({ auth, server }: Project): EnvSetting[] {
  const tokens = {
    name: 'JWT_SECRET',
    why: 'Signs access tokens; 32 bytes or more',
    value: '',
    secret: true,
  };
  if (!auth) return [tokens];
  return [
    tokens,
    {
      name: '# APP_URL',
      why: 'Where people reach the app: links of mails begin with it. Production demands it, https unless on this machine',
      value: `http://localhost:${server.port}`,
    },
    { name: 'API_KEY', why: 'What other services send in X-API-Key', value: '', secret: true },
    ...auth.oauth.providers.flatMap((provider) => oauthSettings(provider)),
  ];
}

/**
 * The settings are commented out until the user fills them in: a partly configured provider stops
 * the server.
 */
function oauthSettings({ name, preset }: OAuthProvider): EnvSetting[] {
  return providerSettings(name, preset).map((setting, index) => ({
    name: `# ${setting}`,
    why: index === 0 ? `Sign-in with ${name}` : '',
    value: '',
  }));
}
