import type { Project } from '@twofold/schema';

/** One line of `.env`. `secret` ones are random in `.env` and empty in `.env.example`. */
interface Setting {
  readonly name: string;
  readonly why: string;
  readonly value: string;
  readonly secret?: boolean;
}

export type DatabaseKind = 'sqlite' | 'postgres';

/** `.env.example`: a scaffold; every setting by name, secrets without a value. */
export function renderEnvExample(project: Project, database: DatabaseKind = 'sqlite'): string {
  return print(settingsOf(project, database), (setting) => (setting.secret ? '' : setting.value));
}

/** `.env`: written once by \`init\`, never committed. \`secret\` makes a random text. */
export function renderEnv(
  project: Project,
  { database, secret }: { database: DatabaseKind; secret: () => string },
): string {
  return print(settingsOf(project, database), (setting) =>
    setting.secret ? secret() : setting.value,
  );
}

/** The secrets without which a server of this project does not start, or cannot be entered, as far as `env` lacks them. */
export function secretsNeeded(
  { auth, hosting }: Project,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const needed = [
    ...(auth || hosting ? ['JWT_SECRET'] : []),
    ...(hosting && !env['HOST_PASSWORD_HASH'] ? ['HOST_PASSWORD'] : []),
  ];
  return needed.filter((name) => !env[name]?.trim());
}

function settingsOf({ name, server, auth, hosting }: Project, database: DatabaseKind): Setting[] {
  const settings: Setting[] = [
    {
      name: '# PORT',
      why: 'Where the server listens, in the place of what the manifest says',
      value: String(server.port),
    },
    {
      name: 'DATABASE_URL',
      why: 'file:data/app.db, or postgres://user:password@host/database',
      value: databaseUrl(name, database),
    },
  ];
  if (auth || hosting)
    settings.push({
      name: 'JWT_SECRET',
      why: 'Signs access tokens; 32 bytes or more',
      value: '',
      secret: true,
    });
  if (auth) {
    settings.push({
      name: '# APP_URL',
      why: 'Where people reach the app: links of mails begin with it. Production demands it, https unless on this machine',
      value: `http://localhost:${server.port}`,
    });
    settings.push({
      name: 'API_KEY',
      why: 'What other services send in X-API-Key',
      value: '',
      secret: true,
    });
    settings.push(...auth.oauth.providers.flatMap((provider) => oauthSettings(provider.name)));
  }
  if (hosting)
    settings.push(
      { name: 'HOST_PASSWORD', why: 'Signs you in to the hosting API', value: '', secret: true },
      ...MODELS,
    );
  return settings;
}

/** Left out until they are wanted: what stands here is what is taken without them. */
const MODELS: readonly Setting[] = [
  {
    name: '# MODELS_CONTEXT',
    why: 'Language models: tokens of one conversation at most, and prompts worked on at the same time',
    value: '8192',
  },
  { name: '# MODELS_PARALLEL', why: '', value: '2' },
  {
    name: '# OPENAI_BASE_URL',
    why: 'A model server to attach to, http://127.0.0.1:11434/v1, and the key it is told',
    value: '',
  },
  { name: '# OPENAI_API_KEY', why: '', value: '' },
];

/** Left out until they are known: a provider that is half configured stops the server. */
function oauthSettings(provider: string): Setting[] {
  const name = provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return ['CLIENT_ID', 'CLIENT_SECRET', 'REDIRECT_URL'].map((part) => ({
    name: `# ${name}_${part}`,
    why: part === 'CLIENT_ID' ? `Sign-in with ${provider}` : '',
    value: '',
  }));
}

function databaseUrl(name: string, database: DatabaseKind): string {
  return database === 'sqlite'
    ? 'file:data/app.db'
    : `postgres://postgres:postgres@localhost:5432/${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
}

function print(settings: readonly Setting[], valueOf: (setting: Setting) => string): string {
  return settings
    .map(
      (setting) =>
        `${setting.why === '' ? '' : `# ${setting.why}\n`}${setting.name}=${valueOf(setting)}\n`,
    )
    .join('');
}
