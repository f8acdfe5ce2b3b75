import type { Facts } from '../build/facts.ts';
import type { Project } from '../model.ts';
import { valuesOf } from '../parse/manifest.ts';
import type { ManifestValues } from '../sections.ts';
import type { ConsoleValues, ConsoleModel } from './manifest.ts';

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

/** The settings of an empty `console:` section; the pages of a project are found, and not set. */
export function defaultsOfConsole({ console: model }: Project): object | undefined {
  if (!model) return undefined;
  const { pages: _folder, ...settings } = valuesOf({ name: 'app', console: {} }).console!;
  return settings;
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
