import type { Project } from '@twofold/schema';

/** Areas of the server's own routes: an entity of such a name does not make their scopes free. */
const OWN_AREAS: ReadonlySet<string> = new Set([
  'apps',
  'auth',
  'console',
  'host',
  'jobs',
  'mcp',
  'models',
  'system',
]);

const ACTIONS: ReadonlySet<string> = new Set(['read', 'write', '*']);

/**
 * Separates scopes of the project's rows (`posts:read`, `posts:write`, `posts:*`) from all others.
 * A key of a user may have them whatever the user's role is, because the rules of the schema hold
 * for that user.
 */
export function dataScopes({ entities }: Pick<Project, 'entities'>): (scope: string) => boolean {
  const areas = new Set(
    entities.map(({ plural }) => plural).filter((plural) => !OWN_AREAS.has(plural)),
  );
  return (scope) => {
    const [area = '', action = ''] = scope.split(':');
    return areas.has(area) && ACTIONS.has(action);
  };
}
