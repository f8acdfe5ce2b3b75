import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConsoleModel, manifestKeys, writtenManifest } from '@twofold/schema';
import { reply } from '@twofold/runtime/http';
import type { Kernel, Settings } from '@twofold/runtime/kernel';

/** A key of the manifest, or a setting of the environment. */
export interface ShownSetting {
  readonly name: string;
  readonly value: unknown;
  readonly source: 'default' | 'manifest' | 'environment' | '.env';
  readonly secret: boolean;
  readonly set: boolean;
}

/** Settings of the environment that win over a key of the manifest. */
const WINS: Readonly<Record<string, string>> = { 'server.port': 'PORT', 'server.host': 'HOST' };

/** Words in the names of settings whose values are credentials, those of the project too. */
const SECRET =
  /(^|_)(SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|TOKENS?|(API)?KEYS?|HASH|SALT|PIN|DSN|CREDENTIALS?)(_|$)/i;

/** `GET /api/system/settings`: every key of the manifest, and every setting that was read. */
export async function listSettings({ settings, project, root }: Kernel, model: ConsoleModel) {
  const keys = model.manifest ? manifestKeys(model.manifest) : await keysIn(root);
  // The settings with which webhooks are signed: the manifest may give them any name.
  const signing = new Set(project.auth?.events.webhooks.map(({ secretEnv }) => secretEnv));
  const isSecret = (name: string) =>
    signing.has(name) || (SECRET.test(name) && typeof settings.asked.get(name) !== 'boolean');
  return () => {
    const values = keys.map((key) => {
      const source = settings.sourceOf(WINS[key.name] ?? '');
      return source === null
        ? shown(key.name, key.value, key.written ? 'manifest' : 'default')
        : shown(key.name, settings.text(WINS[key.name]!), source);
    });
    const read = [...settings.asked.keys()].sort().map((name) => {
      const setting = settingOf(settings, name);
      return isSecret(name) ? { ...setting, value: null, secret: true } : setting;
    });
    return reply(200, { settings: [...values, ...read] });
  };
}

/** None in a container that was built without the file: what it says is not known then. */
const keysIn = async (root: string) => {
  const text = await readFile(join(root, 'manifest.yaml'), 'utf8').catch(() => null);
  return text === null ? [] : manifestKeys(writtenManifest(text));
};

function settingOf(settings: Settings, name: string): ShownSetting {
  const source = settings.sourceOf(name);
  const value = source === null ? settings.asked.get(name) : settings.text(name);
  return shown(name, value, source ?? 'default');
}

const shown = (name: string, value: unknown, source: ShownSetting['source']): ShownSetting => ({
  name,
  value: withoutPasswords(value ?? null),
  source,
  secret: false,
  set: source !== 'default',
});

/**
 * The password between the first `:` and the last `@`, because the name of a mailbox has an `@` of
 * its own; and those in the query, as PostgreSQL takes them. A user without a password is a token
 * in addresses of the web.
 */
const USER_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/:?#]*:).*(@)/i;
const USER_TOKEN = /^(https?:\/\/)[^/:?#@]+(@)/i;
const QUERY_PASSWORD = /([?&;][^=&;]*(?:password|token|secret|key)[^=&;]*=)[^&;#]*/gi;

function withoutPasswords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPasswords);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, withoutPasswords(each)]),
    );
  if (typeof value !== 'string' || !/^[a-z][a-z0-9+.-]*:/i.test(value)) return value;
  return value
    .replace(USER_PASSWORD, '$1***$2')
    .replace(USER_TOKEN, '$1***$2')
    .replaceAll(QUERY_PASSWORD, '$1***');
}
