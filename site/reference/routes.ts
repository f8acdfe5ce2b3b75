import {
  adminDataRoutes,
  auditRoutes,
  documentRoutes,
  jobRoutes,
  type RouteSpec,
  systemRoutes,
} from '@twofold/schema';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { consoleFlows } from '../../runtime/console/flows/index.ts';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { table } from './table.ts';

/** Every table of routes, with when a server has it. */
const TABLES: readonly (readonly [title: string, about: string, routes: readonly RouteSpec[]])[] = [
  ['System', 'Every server has these.', systemRoutes],
  ['Documents', 'A description of the API for tools.', documentRoutes],
  ['Signing in', 'With `auth:` in the manifest.', authFlows],
  ['Jobs', 'With files in `src/jobs/`.', jobRoutes],
  ['Audit', 'Who changed what with a permission.', auditRoutes],
  ['Rows for administrators', 'With `console: { admin_data }` in the manifest.', adminDataRoutes],
  ['Hosting', 'With `hosting:` in the manifest.', hostingFlows],
  ['Language models', 'With `hosting: { models }` in the manifest.', modelFlows],
  ['Console', 'With `console:` in the manifest.', consoleFlows],
];

/** Every HTTP endpoint that a server may have besides those of its own schema. */
export function routesReference(): string {
  return `# HTTP routes

Every endpoint that a server may have besides \`/graphql\` and the [REST API](/rest/rest) of its own schema. The tables are
made from the same data that the server binds its handlers to, and \`/openapi.json\` of a running server has the schema of each body and answer.
A name in the column Body with \`?\` may be left out. A name such as \`apps:read\` in the column Needs is a permission.

${TABLES.map(sectionOf).join('\n\n')}
`;
}

function sectionOf([title, about, routes]: (typeof TABLES)[number]): string {
  return `## ${title}\n\n${about}\n\n${table(['Route', 'Needs', 'What', 'Body', 'Answers'], routes.map(rowOf))}`;
}

function rowOf(route: RouteSpec): string[] {
  return [
    `\`${route.method} ${route.path}\``,
    route.access === 'public' ? '' : `\`${route.access}\``,
    route.summary + (route.deprecated ? ` (deprecated: ${route.deprecated})` : ''),
    bodyOf(route),
    Object.keys(route.responses).join(' '),
  ];
}

/** Names of the fields of a JSON body. */
function bodyOf({ body }: RouteSpec): string {
  if (!body) return '';
  if (body.kind === 'stream') return `\`${body.type}\``;
  const { properties, required } = body.schema as {
    readonly properties?: object;
    readonly required?: readonly string[];
  };
  return Object.keys(properties ?? {})
    .map((name) => `\`${name}${required?.includes(name) ? '' : '?'}\``)
    .join(' ');
}
