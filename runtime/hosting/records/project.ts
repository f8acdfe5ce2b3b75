import { failure } from '@twofold/runtime/errors';
import type { AppSpec } from './app.ts';
import { APP_NAME } from './names.ts';

/** @throws AppError 400 */
export function assertProjectName(name: string): void {
  if (new RegExp(APP_NAME).test(name)) return;
  throw failure.badRequest(
    'project must begin with a lower-case letter and hold at most 63 lower-case letters, digits and hyphens',
  );
}

/**
 * The names by which other apps of its project reach an app: `shop-db` in the project `shop` is
 * `db` too.
 */
export function namesOf(name: string, { project }: Pick<AppSpec, 'project'>): readonly string[] {
  const prefix = `${project}-`;
  const short = project && name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return short === '' ? [name] : [name, short];
}

/** @throws AppError 400 for a volume of a project in an app without one. */
export function assertProject({ project, volumes }: AppSpec): void {
  if (!project && volumes.some(({ shared }) => shared))
    throw failure.badRequest('volumes.shared needs a project, whose apps share the volume');
}
