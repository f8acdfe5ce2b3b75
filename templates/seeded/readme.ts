import type { Project } from '@twofold/schema';
import { templatesOf } from '../capabilities.ts';

/** `README.md`: a scaffold. */
export function renderReadme(project: Project): string {
  const { api } = project;
  const parts = templatesOf(project).flatMap((template) => template.readme?.(project) ?? []);
  const files = parts.flatMap(({ files: rows = [] }) => rows);
  const endpoints = parts.flatMap(({ endpoints: rows = [] }) => rows);
  const pages = parts.flatMap(({ pages: links = [] }) =>
    links.map(([title, path]) => `[${title}](node_modules/@twofold/${path})`),
  );
  return `# ${project.name.replace(/[\r\n]/g, ' ')}

A server made from \`schema.graphql\` and \`manifest.yaml\`.

    npm install && npm start     # http://localhost:${project.server.port}${api.path}
    npm run dev                  # regenerates, migrates and restarts on every save
    npm run check                # generated code is up to date, types are right
    npm test

After a fresh clone, copy \`.env.example\` to \`.env\` and fill in what is empty.
${project.server.host === '127.0.0.1' ? 'Only this machine reaches the server, as nobody has to sign in; `HOST=0.0.0.0` opens it to others.\n' : ''}${parts.map(({ start }) => (start === undefined ? '' : `\n${start}\n`)).join('')}
| Where | What | Whose |
|---|---|---|
| \`schema.graphql\`, \`manifest.yaml\` | the data and the settings | yours |
| \`src/generated/\` | types, resolvers, loaders, settings | the generator's: it is written again by every run |
| \`migrations/\` | migrations of the database, one file for each change | yours to edit until applied |
| \`src/server.ts\`, \`test/\` | the start of the server; your tests | yours |
| \`src/resolvers/<Type>.ts\` | fields with functions of your own, \`export const resolvers = { … } satisfies types.<Type>Overrides\` | yours |
${lines(files)}| \`src/plugins/*.ts\`, \`src/routes.ts\`, \`src/scalars.ts\` | middleware, REST routes, scalars of your own | yours |

| Endpoint | |
|---|---|
| \`${api.path}\` | GraphQL; open it in a browser while developing |
${api.rest ? '| `/api/<plural>` | REST for each entity; the list is at `/api/openapi.json` |\n' : ''}${lines(endpoints)}| \`/api/health\` | whether it is up |

Pages: [commands](node_modules/@twofold/generator/generator/docs/commands.md), [regeneration and deploying](node_modules/@twofold/generator/generator/docs/regeneration.md),
[the schema](node_modules/@twofold/schema/docs/inference.md), [an API written from it](node_modules/@twofold/schema/docs/crud.md), [directives](node_modules/@twofold/schema/docs/directives.md), [manifest and settings](node_modules/@twofold/schema/docs/manifest.md),
[queries](node_modules/@twofold/runtime/graphql/docs/queries.md), [own code](node_modules/@twofold/runtime/graphql/docs/own-code.md)${pages.length > 0 ? `,\n${pages.join(', ')}` : ''}.
`;
}

const lines = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('');
