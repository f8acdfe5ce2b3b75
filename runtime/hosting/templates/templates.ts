import { randomInt } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, failure } from '@twofold/runtime/errors';
import type { HostedApp, AppVolume } from '../records/app.ts';
import { assertImage, ENV_KEY, VOLUME_NAME } from '../records/names.ts';
import catalogue from './catalogue.json' with { type: 'json' };

/** Characters of a generated secret when a template does not set the number. */
const SECRET_LENGTH = 32;

/**
 * Loads the built-in templates and those in the project's folder (`*.yaml`, `*.json`), which
 * replace built-in ones of the same id.
 *
 * @throws ConfigError when a file of the folder is not a template.
 */
export async function loadTemplates(folder: string): Promise<ReadonlyMap<string, Template>> {
  const files = listFiles(folder);
  const parse: (text: string) => unknown =
    files.length > 0 ? (await import('yaml')).parse : JSON.parse;
  const own = files.map((file) =>
    readTemplate(file, parse(readFileSync(join(folder, file), 'utf8'))),
  );
  const builtIn = catalogue.map((template) => readTemplate('catalogue.json', template));
  return new Map([...builtIn, ...own].map((template) => [template.id, template]));
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .sort();
  } catch {
    return [];
  }
}

function readTemplate(file: string, value: unknown): Template {
  const problem = (text: string) => new ConfigError([`template ${file}: ${text}`]);
  if (typeof value !== 'object' || value === null)
    throw problem('must be a mapping of keys to values');
  const given = value as Partial<Record<keyof Template, any>>;
  const id = given.id ?? file.replace(/\.\w+$/, '');
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id))
    throw problem(
      `id ${JSON.stringify(id)} must consist of lower-case letters, digits and hyphens`,
    );
  if (typeof given.image !== 'string')
    throw problem('image is required, such as docker.io/library/nginx:1.27');
  assertImage(given.image);
  if (!Number.isInteger(given.port)) throw problem('port is required, as a whole number');
  const env = (given.env ?? []).map((entry: TemplateEnv) => ({
    ...entry,
    description: entry.description ?? '',
    ...(entry.generate !== undefined && { generate: lengthOf(entry.generate, entry.key, problem) }),
    secret: entry.secret ?? entry.generate !== undefined,
  }));
  if (env.some(({ key }: TemplateEnv) => !new RegExp(ENV_KEY).test(key)))
    throw problem(
      'each key in env must consist of letters, digits and _, and not begin with a digit',
    );
  const volumes = given.volumes ?? [];
  if (volumes.some(({ name }: { name: string }) => !new RegExp(VOLUME_NAME).test(name)))
    throw problem(
      'each name in volumes must consist of lower-case letters, digits, dots, hyphens and _',
    );
  return {
    id,
    name: given.name ?? id,
    description: given.description ?? '',
    category: given.category ?? 'own',
    image: given.image,
    port: given.port,
    env,
    volumes,
    ...(given.command && { command: given.command }),
    ...(given.backup && { backup: readBackup(given.backup, problem) }),
  };
}

/** @throws ConfigError when it is not a dump with its restore. */
function readBackup(
  { dump, restore, ...others }: Record<string, unknown>,
  problem: (text: string) => ConfigError,
): TemplateBackup {
  const isCommand = (value: unknown): value is string[] =>
    Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');
  if (isCommand(dump) && isCommand(restore) && Object.keys(others).length === 0)
    return { dump, restore };
  throw problem('backup must have dump and restore, each a list of words');
}

/**
 * The number of characters to generate. `true` means the default length. As a number it would mean
 * a password of one character.
 */
function lengthOf(generate: unknown, key: string, problem: (text: string) => ConfigError): number {
  if (generate === true) return SECRET_LENGTH;
  const length = Number.isInteger(generate) ? (generate as number) : 0;
  if (length >= 16 && length <= 256) return length;
  throw problem(
    `env.${key}.generate must be true or a number of characters from 16 to 256, not ${JSON.stringify(generate)}`,
  );
}

/** A template as the list shows it. */
export function showTemplate({
  command: _command,
  backup: _backup,
  ...template
}: Template): object {
  return template;
}

/**
 * The environment and the secrets of a new app: the caller's values, then the template's defaults,
 * then generated values. `generated` also contains the generated values.
 *
 * @throws AppError 400 that names the missing or unknown variables.
 */
export function fillTemplate(
  template: Template,
  given: HostedApp['env'],
  { name, domain, url }: { name: string; domain: string; url: string },
): { env: HostedApp['env']; secrets: HostedApp['secrets']; generated: HostedApp['env'] } {
  const env: Record<string, string> = { ...given };
  const secrets: Record<string, string> = {};
  const generated: Record<string, string> = {};
  const fill = (text: string) =>
    text.replaceAll('{{domain}}', domain).replaceAll('{{url}}', url).replaceAll('{{name}}', name);
  for (const entry of template.env) {
    const known =
      given[entry.key] || (entry.default === undefined ? undefined : fill(entry.default));
    if (!known && entry.generate) generated[entry.key] = randomText(entry.generate);
    const value = known || generated[entry.key];
    if (value === undefined && entry.required)
      throw failure.badRequest(`env.${entry.key} is required: ${entry.description}`);
    delete env[entry.key];
    if (value !== undefined) (entry.secret ? secrets : env)[entry.key] = value;
  }
  return { env, secrets, generated };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Only letters and digits, because some programs put a password into a URL without encoding it. */
function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/**
 * One environment variable of a template. `generate` is the number of random characters when the
 * caller gives no value.
 */
export interface TemplateEnv {
  readonly key: string;
  readonly description: string;
  readonly secret: boolean;
  /** `{{domain}}`, `{{url}}` and `{{name}}` are replaced. */
  readonly default?: string;
  readonly generate?: number;
  readonly required?: boolean;
}

/** How the data of a database is printed while it serves, and read again. */
export interface TemplateBackup {
  readonly dump: readonly string[];
  readonly restore: readonly string[];
}

/**
 * An app that is ready to deploy. The image has a fixed tag, so that a template always deploys the
 * same program.
 */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly image: string;
  readonly port: number;
  readonly env: readonly TemplateEnv[];
  readonly volumes: readonly AppVolume[];
  readonly command?: readonly string[];
  readonly backup?: TemplateBackup;
}
