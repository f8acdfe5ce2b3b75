import type { Project } from '@twofold/schema';

/**
 * Areas of the server's own routes. Their scopes always need a permission, even if an entity of the
 * project has the same name.
 */
const OWN_AREAS: ReadonlySet<string> = new Set([
  'apps',
  'auth',
  'console',
  'host',
  'jobs',
  'metrics',
  'models',
  'system',
]);

const ACTIONS: ReadonlySet<string> = new Set(['read', 'write', '*']);

/**
 * Returns a test for free scopes: those of the project's data, such as `posts:read`, `posts:write`,
 * `posts:*`, and those of `/mcp`, which reads and writes the same data. A key of a user may have
 * them with any role, because the access rules of the schema still apply to that user.
 */
export function dataScopes({ entities }: Pick<Project, 'entities'>): (scope: string) => boolean {
  const areas = new Set([
    'mcp',
    ...entities.map(({ plural }) => plural).filter((plural) => !OWN_AREAS.has(plural)),
  ]);
  return (scope) => {
    const [area = '', action = ''] = scope.split(':');
    return areas.has(area) && ACTIONS.has(action);
  };
}
