import type { Facts } from '../build/facts.ts';
import type { ManifestValues } from '../sections.ts';
import type { ConsoleValues } from './manifest.ts';
import type { ConsoleModel } from './model.ts';

/** The model of the `console:` section; null without one. */
export function buildConsole({ manifest: { values, written } }: Facts): ConsoleModel | null {
  const { console: section } = values;
  if (!section) return null;
  const { path, enabled, host, adminData } = section;
  return {
    path: path.replace(/(?<=.)\/+$/, ''),
    enabled,
    host,
    adminData,
    roles: rolesOf(section, values),
    manifest: written,
  };
}

/**
 * The permissions of each role. A list of roles gives every permission to each of them, and so does
 * the default.
 */
export function rolesOf(
  { roles }: ConsoleValues,
  { auth }: Pick<ManifestValues, 'auth'>,
): ConsoleModel['roles'] {
  if (roles && !Array.isArray(roles)) return roles as ConsoleModel['roles'];
  const first = auth?.roles?.first;
  const names = (roles as readonly string[] | undefined) ?? (first ? [first] : []);
  return Object.fromEntries(names.map((name) => [name, ['*']]));
}
