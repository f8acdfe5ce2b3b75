import { kebabCase } from '../names.ts';
import { authRoutes } from '../routes/auth.ts';
import { hostingRoutes } from '../routes/hosting.ts';
import { documentRoutes, systemRoutes } from '../routes/system.ts';
import { finding } from './finding.ts';
import type { Rule } from './finding.ts';

/** First parts below /api that the server answers itself, whether or not the module that does is on today. */
const FIXED: ReadonlySet<string> = new Set([
  ...[...authRoutes, ...hostingRoutes, ...systemRoutes, ...documentRoutes].flatMap(
    ({ path }) => path.split('/')[2] ?? [],
  ),
  'mlx',
  'webhooks',
  'events',
]);

/** API_PATH_RESERVED, REST_PATH_RESERVED, REST_PATH_CLASH: GraphQL and each REST module shadow no path of the server and no other module. */
export const restPaths: Rule = function* ({ facts, project }) {
  const [, api, first = ''] = project.api.path.split('/');
  if (api === 'api' && FIXED.has(first))
    yield finding(
      'API_PATH_RESERVED',
      `The path ${project.api.path} belongs to the server`,
      facts.manifest.at(['api', 'path']),
      { fix: 'path: /graphql' },
    );
  if (!project.api.rest) return;
  const taken = new Map<string, string>();
  for (const entity of facts.entities.values()) {
    const path = kebabCase(entity.plural);
    const other = taken.get(path);
    const at = entity.directives.entity?.node ?? entity.node;
    const fix = `type ${entity.name} @entity(plural: "app${entity.plural.charAt(0).toUpperCase()}${entity.plural.slice(1)}")`;
    if (FIXED.has(path) || project.api.path === `/api/${path}`)
      yield finding(
        'REST_PATH_RESERVED',
        `The REST path /api/${path} of ${entity.name} belongs to the server`,
        at,
        { why: 'the plural of a type is its path', fix },
      );
    else if (other !== undefined)
      yield finding(
        'REST_PATH_CLASH',
        `${other} and ${entity.name} would share the REST path /api/${path}`,
        at,
        { fix },
      );
    taken.set(path, entity.name);
  }
};
