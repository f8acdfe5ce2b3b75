import { kebabCase } from '../names.ts';
import { capabilities, capabilityRoutes } from '../capabilities.ts';
import { documentRoutes, systemRoutes } from '../routes/system.ts';
import type { Project } from '../model.ts';
import { finding, onType, quoted, type Rule } from './finding.ts';

const below = (routes: readonly { readonly path: string }[]): string[] =>
  routes.flatMap(({ path }) => path.split('/')[2] ?? []);

const SERVER = below([...systemRoutes, ...documentRoutes]);

/**
 * Paths of all capabilities, on or off: the GraphQL path is chosen once, and must not collide when
 * a capability is enabled later.
 */
const ALL: ReadonlySet<string> = new Set([
  ...SERVER,
  ...below(capabilities.flatMap(({ routes }) => routes)),
]);

/**
 * First path segments below /api that the server uses itself; those of a disabled capability are
 * free.
 */
function ownPaths(project: Project): ReadonlySet<string> {
  return new Set([...SERVER, ...below(capabilityRoutes(project))]);
}

/**
 * API_PATH_RESERVED, REST_PATH_RESERVED, REST_PATH_CLASH: GraphQL and REST modules must not use a
 * path of the server or of another module.
 */
export const restPaths: Rule = function* ({ facts, project }) {
  const [, api, first = ''] = project.api.path.split('/');
  if (api === 'api' && ALL.has(first))
    yield finding('API_PATH_RESERVED', facts.manifest.at(['api', 'path']), {
      summary: `The path ${project.api.path} belongs to the server`,
      fix: 'path: /graphql',
    });
  if (!project.api.rest) return;
  const own = ownPaths(project);
  const taken = new Map<string, string>();
  for (const entity of facts.entities.values()) {
    const path = kebabCase(entity.plural);
    const other = taken.get(path);
    const at = entity.directives.entity?.node ?? entity.node;
    const plural = `app${entity.plural.charAt(0).toUpperCase()}${entity.plural.slice(1)}`;
    // Without `table`, the table of existing rows would get the name of the new plural.
    const changes = [
      onType(entity, 'entity', { plural: quoted(plural), table: quoted(entity.table) }),
    ];
    if (own.has(path) || project.api.path === `/api/${path}`)
      yield finding('REST_PATH_RESERVED', at, {
        summary: `The REST path /api/${path} of ${entity.name} belongs to the server`,
        why: 'the plural of a type is its path',
        changes,
      });
    else if (other !== undefined)
      yield finding('REST_PATH_CLASH', at, {
        summary: `${other} and ${entity.name} would share the REST path /api/${path}`,
        changes,
      });
    taken.set(path, entity.name);
  }
};
