import type { Project } from '@twofold/schema';
import { templatesOf } from '../capabilities.ts';
import type { EnvSetting } from '../capability.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** `.env.example`: a scaffold; every setting by name, secrets without a value. */
export function renderEnvExample(project: Project, database: DatabaseKind = 'sqlite'): string {
  return print(settingsOf(project, database), (setting) => (setting.secret ? '' : setting.value));
}

/** `.env`: written once by `init`, never committed. `secret` returns a random text. */
export function renderEnv(
  project: Project,
  { database, secret }: { database: DatabaseKind; secret: () => string },
): string {
  return print(settingsOf(project, database), (setting) =>
    setting.secret ? secret() : setting.value,
  );
}

/**
 * Secrets without which the server of this project does not start, or users cannot sign in, and
 * that `env` does not contain.
 */
export function secretsNeeded(
  project: Project,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const missing = templatesOf(project)
    .flatMap(({ secrets = [] }) => secrets)
    .filter(({ name, or }) => !env[name]?.trim() && !(or !== undefined && env[or]));
  return [...new Set(missing.map(({ name }) => name))];
}

function settingsOf(project: Project, database: DatabaseKind): EnvSetting[] {
  return [
    {
      name: '# PORT',
      why: 'The port of the server; it overrides the manifest',
      value: String(project.server.port),
    },
    {
      name: 'DATABASE_URL',
      why: 'file:data/app.db, or postgres://user:password@host/database',
      value: databaseUrl(project.name, database),
    },
    ...templatesOf(project).flatMap((template) => template.env?.(project) ?? []),
  ];
}

function databaseUrl(name: string, database: DatabaseKind): string {
  return database === 'sqlite'
    ? 'file:data/app.db'
    : `postgres://postgres:postgres@localhost:5432/${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
}

function print(settings: readonly EnvSetting[], valueOf: (setting: EnvSetting) => string): string {
  return settings
    .map(
      (setting) =>
        `${setting.why === '' ? '' : `# ${setting.why}\n`}${setting.name}=${valueOf(setting)}\n`,
    )
    .join('');
}
