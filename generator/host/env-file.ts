import { randomBytes } from 'node:crypto';
import { parseEnv } from 'node:util';
import { CommandError } from '../failure.ts';
import type { InstallOptions } from './place.ts';

export interface EnvParts {
  /** The file of an earlier run, which the operator may have changed. */
  readonly existing: string | null;
  /** `.env` of the project. */
  readonly project: string | null;
  /** The port of the manifest. */
  readonly port: number;
  readonly options: Pick<InstallOptions, 'domain' | 'url' | 'email'>;
  readonly secret?: () => string;
}

const randomSecret = (): string => randomBytes(32).toString('base64url');

/**
 * The settings of an installed server. What an earlier run wrote stays, as a new secret would
 * make every session and every sealed value unreadable. Options of this run replace it.
 */
export function envValues(parts: EnvParts): Readonly<Record<string, string>> {
  const { existing, project, port, options, secret = randomSecret } = parts;
  const before = existing === null ? {} : parseEnv(existing);
  // These two say how the project runs on the computer of a developer.
  const { HOST: _host, NODE_ENV: _mode, ...settings } = project === null ? {} : parseEnv(project);
  const known = defined({ PORT: String(port), ...settings, ...before });
  return {
    ...known,
    ...secretsOf(known, secret),
    ...(options.domain !== null && { HOSTING_DOMAIN: options.domain }),
    ...(options.url !== null && { APP_URL: options.url.replace(/\/$/, '') }),
    ...(options.email !== null && { ACME_EMAIL: options.email }),
  };
}

function secretsOf(known: Readonly<Record<string, string>>, secret: () => string) {
  return {
    ...(!known['JWT_SECRET'] && { JWT_SECRET: secret() }),
    ...(!known['HOST_PASSWORD'] && !known['HOST_PASSWORD_HASH'] && { HOST_PASSWORD: secret() }),
  };
}

const defined = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/**
 * The text of a file for `EnvironmentFile=` of systemd.exec(5).
 *
 * @throws CommandError for a value of several lines, which Node and systemd read differently.
 */
export function printEnv(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values)
    .sort()
    .map(([name, value]) => {
      if (/[\n\r\0]/.test(value))
        throw new CommandError('SETTING_UNUSABLE', {
          message: `${name} has several lines, which a file of settings cannot hold`,
          fix: `write it on one line, for example in base64`,
        });
      return `${name}=${quoted(name, value)}\n`;
    });
  return `# The settings of the server. After a change: systemctl restart twofold\n${lines.join('')}`;
}

/**
 * A form that systemd and Node's `parseEnv`, which the next run uses, read alike: Node knows no
 * escapes, so a value stands in a kind of quotes that it does not contain.
 */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%+,=~?&-]*$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  if (!/["\\$`]/.test(value)) return `"${value}"`;
  throw new CommandError('SETTING_UNUSABLE', {
    message: `${name} has both kinds of quotes, or an apostrophe and one of \\ $ \``,
    fix: 'give it another value',
  });
}
