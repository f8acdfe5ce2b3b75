import { createHash } from 'node:crypto';
import { parseDuration } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import type { AppSpec, HostedApp } from './app.ts';
import { given, PROCESS_FIELDS } from './process-fields.ts';
import { PREVIEW_RULES, type PreviewRules } from './preview-rules.ts';

/** The rules as the API shows them. */
export const showPreviewRules = ({ previews }: AppSpec): PreviewRules => ({
  ...PREVIEW_RULES,
  ...previews,
});

/** The fields of a preview as the API shows them; undefined for another app. */
export function showPreview({ preview }: AppSpec) {
  if (!preview) return undefined;
  const { of, key, ref, expires_at } = preview;
  return { of, key, ref, expires_at };
}

const LONGEST_NAME = 63;

/**
 * The name of a preview, which is a label of its domain. A name that would be too long is shortened
 * and gets a hash.
 *
 * @example previewName('shop', '7') // 'shop-pr-7'
 */
export function previewName(app: string, key: string): string {
  const name = `${app}-pr-${key.replace(/^pr-/, '')}`;
  if (name.length <= LONGEST_NAME) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_NAME - 9).replace(/-+$/, '')}-${hash}`;
}

/**
 * Reads the key of a preview. `pr-7` and `7` are the same preview, as they have the same name.
 *
 * @throws AppError 400
 */
export function parsePreviewKey(key: string): string {
  if (/^(?:pr-)?[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(key)) return key;
  throw failure.badRequest(
    'key must have at most 40 lower-case letters, digits and hyphens, and no hyphen at its ends',
  );
}

/** What a preview takes over from the spec of its app; all other fields are its own. */
const INHERITED = [
  ...PROCESS_FIELDS,
  'port',
  'worker',
  'resources',
  'health',
  'command',
  'release',
  'build',
  'http',
] as const;

/** The private network of a project, which a change of a stranger must not reach. */
const INHERITED_BY_OWN = ['project', 'networks'] as const;

/**
 * The configuration of a preview: the app's own, without its domains, volumes, cron, ports and
 * processes. That of a fork is not in the project either.
 */
export function inheritedSpec(
  spec: AppSpec,
  { fork }: { readonly fork: boolean },
): Partial<AppSpec> {
  return given(spec, fork ? INHERITED : [...INHERITED, ...INHERITED_BY_OWN]);
}

/** The environment of a preview, and those secrets of its app that the rules name. */
export function inheritedValues({
  spec,
  env,
  secrets,
}: HostedApp): Pick<HostedApp, 'env' | 'secrets'> {
  const rules = showPreviewRules(spec);
  const named = Object.entries(secrets).filter(([key]) => rules.secrets.includes(key));
  return { env: { ...env, ...rules.env }, secrets: Object.fromEntries(named) };
}

/** Milliseconds for which a preview lasts. */
export const lifetimeOf = (
  { spec }: HostedApp,
  given: string | undefined,
  fallback: number,
): number => parseDuration(given ?? spec.previews?.expire ?? '') ?? fallback;
