import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConsoleModel, manifestKeys, writtenManifest } from '@twofold/schema';
import { flag, list, text, type ValueOf } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import type { Kernel, Settings } from '@twofold/runtime/kernel';
import { flow, READS, whole } from './flow.ts';

/** A key of the manifest, or a setting of the environment. */
const setting = whole({
  name: text,
  value: {},
  source: { enum: ['default', 'manifest', 'environment', '.env'] },
  secret: flag,
  set: flag,
});

export type ShownSetting = ValueOf<typeof setting>;

/** Settings of the environment that win over a key of the manifest. */
const WINS: Readonly<Record<string, string>> = { 'server.port': 'PORT', 'server.host': 'HOST' };

/** Words in the names of settings whose values are credentials, those of the project too. */
const SECRET =
  /(^|_)(SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|TOKENS?|(API)?KEYS?|HASH|SALT|PIN|DSN|CREDENTIALS?)(_|$)/i;

export const systemSettings = flow('GET /api/system/settings', {
  ...READS,
  summary: 'Lists every key of the manifest and every setting that is read',
  answers: {
    200: [
      'The value of a secret is null, and a password in an address is `***`',
      whole({ settings: list(setting) }),
    ],
  },
  handle: async (_call, { kernel, model }) =>
    reply(200, { settings: [...(await manifestSettings(kernel, model)), ...readSettings(kernel)] }),
});

async function manifestSettings({ settings, root }: Kernel, { manifest }: ConsoleModel) {
  const keys = manifest ? manifestKeys(manifest) : await keysIn(root);
  return keys.map(({ name, value, written }) => {
    const wins = WINS[name] ?? '';
    const source = settings.sourceOf(wins);
    return source === null
      ? shown(name, value, written ? 'manifest' : 'default')
      : shown(name, settings.text(wins), source);
  });
}

/** Every setting that was read. */
function readSettings({ settings, project }: Kernel): ShownSetting[] {
  // The settings with which webhooks are signed: the manifest may give them any name.
  const signing = new Set(project.auth?.events.webhooks.map(({ secretEnv }) => secretEnv));
  const isSecret = (name: string) =>
    signing.has(name) || (SECRET.test(name) && typeof settings.asked.get(name) !== 'boolean');
  return [...settings.asked.keys()].sort().map((name) => {
    const read = settingOf(settings, name);
    return isSecret(name) ? { ...read, value: null, secret: true } : read;
  });
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
