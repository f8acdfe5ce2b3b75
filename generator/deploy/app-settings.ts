import { randomBytes } from 'node:crypto';
import type { Project } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import type { AppReport } from './hosting-server.ts';

/** The settings of an app. The server stores sealed values encrypted and never returns them. */
export interface AppSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

export type GivenEnvironment = Readonly<Record<string, string | undefined>>;

const SEALED = /(SECRET|PASSWORD|PASSWORD_HASH|TOKEN|KEY|CREDENTIALS)$|^DATABASE_(DIRECT_)?URL$/;

/**
 * Reads `--env NAME=VALUE`, and `--env NAME`, which takes the value from the environment so that it
 * is on no command line. `DATABASE_URL` and names that look like secrets are sealed.
 *
 * @throws CommandError for a text that is not a setting, and for a setting without a value.
 */
export function readSettings(given: readonly string[], here: GivenEnvironment): AppSettings {
  const pairs = given.map((text): [string, string] => {
    const [, name = '', value] = /^([A-Za-z_]\w*)(?:=([^]*))?$/.exec(text) ?? [];
    if (name === '')
      throw new CommandError('SETTING_INVALID', {
        message: `${JSON.stringify(text)} is not a setting`,
        fix: '--env NAME=VALUE, or --env NAME for the value that .env has',
      });
    const found = value ?? here[name];
    if (found === undefined)
      throw new CommandError('SETTING_MISSING', {
        message: `${name} has no value in the environment or in .env`,
        fix: `--env ${name}=VALUE`,
      });
    return [name, found];
  });
  return {
    env: Object.fromEntries(pairs.filter(([name]) => !SEALED.test(name))),
    secrets: Object.fromEntries(pairs.filter(([name]) => SEALED.test(name))),
  };
}

/**
 * Adds the settings without which the app does not start. `JWT_SECRET` is random, because only the
 * app has to know it; a password is for users and has to be given.
 *
 * @throws CommandError when a password is missing.
 */
export function withNeeded(
  { env, secrets }: AppSettings,
  { auth, hosting }: Project,
  known: AppReport | null,
): AppSettings {
  const has = (name: string) => name in secrets || name in env || name in (known?.env ?? {});
  if (hosting && !has('HOST_PASSWORD') && !has('HOST_PASSWORD_HASH')) {
    throw new CommandError('SETTING_MISSING', {
      message: 'a hosting server needs the password of its operator',
      fix: '--env HOST_PASSWORD takes it from .env',
    });
  }
  const random =
    (auth || hosting) && !has('JWT_SECRET')
      ? { JWT_SECRET: randomBytes(32).toString('base64url') }
      : {};
  return { env, secrets: { ...random, ...secrets } };
}

/**
 * Production requires `APP_URL` of a project with sign-in, because links in mails begin with it.
 * The default is the app's own address.
 */
export function withAddress(
  { env, secrets }: AppSettings,
  { auth }: Project,
  app: Pick<AppReport, 'env' | 'url'>,
): Readonly<Record<string, string>> {
  const given = 'APP_URL' in env || 'APP_URL' in secrets || 'APP_URL' in app.env;
  return auth && !given ? { ...env, APP_URL: app.url } : env;
}

/**
 * The settings of an app that is deployed for the first time. The file of a SQLite database has to
 * outlive the container, so it gets a volume unless the database is elsewhere.
 */
export function newApp(
  name: string,
  { env, secrets }: AppSettings,
  project: Project,
): Record<string, unknown> {
  const elsewhere = /^postgres/.test(secrets['DATABASE_URL'] ?? '');
  return {
    name,
    port: project.server.port,
    env: { HOST: '0.0.0.0', MIGRATE: 'on', ...env },
    health: { path: HEALTH },
    ...(!elsewhere && { volumes: [{ name: 'data', path: '/app/data' }] }),
  };
}

/** The readiness endpoint of an emitted project. */
export const HEALTH = '/api/health';
