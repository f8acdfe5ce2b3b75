import type { Diagnostic } from '../diagnostic.ts';
import { snakeCase } from '../names.ts';
import { sections } from '../sections.ts';
import type { ManifestPath, PlaceOf } from './yaml.ts';

const SECRET_KEY =
  /^(?:.*_)?(?:password|passwd|passphrase|secret|token|api_?key|private_?key|access_?key|credentials?)$/;
const NOT_SECRET = new Set(sections.flatMap(({ notSecret = [] }) => notSecret));

/**
 * Values that are secrets under any key: JWTs, keys with the prefix of a well-known service, PEM,
 * URLs with a password.
 */
const SECRET_VALUE: readonly RegExp[] = [
  /^eyJ[\w-]{8,}\.[\w-]{8,}\./,
  /^(?:sk|rk|pk)_(?:live|test)_\w{8,}/,
  /^(?:ghp|gho|ghs|github_pat|glpat|xox[abprs]|whsec|hf|npm|gk|GOCSPX)[-_]\w{12,}/,
  /^AKIA[0-9A-Z]{16}$/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]+:[^/\s@]+@/i,
  /^\$2[aby]\$\d\d\$/,
  /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/_-]{32,}={0,2}$/,
  /^[0-9a-f]{40,}$/i,
];

/** The setting of the environment for the secret at a path. */
const SETTINGS: readonly (readonly [RegExp, string])[] = [
  [/jwt_secret$/, 'JWT_SECRET'],
  [/api_?key$/, 'API_KEY'],
  [/^database\./, 'DATABASE_URL'],
  [/smtp|mail/, 'SMTP_URL'],
  [/webhook/, 'WEBHOOK_SECRET'],
];

/** A secret with its path. */
export interface Secret {
  readonly path: ManifestPath;
  readonly finding: Diagnostic;
}

/**
 * Secrets in the manifest, which is a committed file.
 *
 * @example
 * secretFindings({ auth: { jwt: { secret: 'x' } } }, at)[0].finding.fix // 'put it into .env as JWT_SECRET …'
 */
export function secretFindings(value: unknown, at: PlaceOf): Secret[] {
  const secrets = [...leaves(value, [])].filter((leaf) => isSecret(leaf.path, leaf.value));
  return secrets.map(({ path }) => ({ path, finding: secretFinding(path, at) }));
}

function secretFinding(path: ManifestPath, at: PlaceOf): Diagnostic {
  return {
    code: 'MANIFEST_SECRET',
    severity: 'error',
    summary: `${path.join('.')} looks like a secret`,
    why: 'the manifest is committed, and every reader of it could use the secret',
    fix: `put it into .env as ${settingFor(path)} and remove it here; if it was committed, make a new one`,
    at: at(path, 'key'),
  };
}

function isSecret(path: ManifestPath, value: string | number): boolean {
  const key = snakeCase(String(path.findLast((part) => typeof part === 'string') ?? ''));
  if (NOT_SECRET.has(key)) return false;
  return SECRET_KEY.test(key) || SECRET_VALUE.some((pattern) => pattern.test(String(value)));
}

function settingFor(path: ManifestPath): string {
  const name = path.join('.').toLowerCase();
  return (
    sectionSetting(path) ??
    SETTINGS.find(([pattern]) => pattern.test(name))?.[1] ??
    snakeCase(String(path.at(-1))).toUpperCase()
  );
}

/** The setting of the environment for a key. The innermost section is asked first. */
function sectionSetting(path: ManifestPath): string | undefined {
  const keys = path.map((key) => snakeCase(String(key)));
  for (const { name, within, settingFor } of sections.toReversed()) {
    const place = within === undefined ? [name] : [within, name];
    if (!place.every((key, at) => key === keys[at])) continue;
    const setting = settingFor?.(keys.slice(place.length));
    if (setting !== undefined) return setting;
  }
  return undefined;
}

function* leaves(
  value: unknown,
  path: ManifestPath,
): Generator<{ path: ManifestPath; value: string | number }> {
  if (typeof value === 'string' || typeof value === 'number') yield { path, value };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* leaves(item, [...path, index]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) yield* leaves(item, [...path, key]);
}
