import type { Project } from '@twofold/schema';

const PACKAGE = 'node_modules/@twofold/generator';

const FINDINGS = `## How to read a finding

    schema.graphql:12:3  error  RELATION_AMBIGUOUS  what is wrong
       why  the reason
       fix  the line to paste

Findings come all at once, with file, line and column. Apply the \`fix\`: it is text that works. \`error\` stops the run and nothing is written; \`warning\` and \`hint\`
do not. Every code is in ${PACKAGE}/schema/docs/findings.md.

`;

const LOSSES = `## What loses data

- Removing a field or type from the schema keeps its column or table with the rows (COLUMN_KEPT); only \`--allow-drop Post.body\` drops it. A change of a type that cuts values
  needs \`--allow-loss Post.rating\`. Give such a flag only when the person you work for has agreed to this loss, in words.
- \`--confirm NAME\` is needed for a database that is not on this machine or that production has used. Never guess the name.
- No setting, no \`--yes\` and no terminal stands for these flags. \`prune\` lists what it would remove, and removes nothing without \`--yes\`.
- \`migrate reset\`, \`db restore --replace\` and \`deploy\` act at once on what they name: ask first.

`;

/**
 * `AGENTS.md`: a scaffold, for coding agents and for people who are new. Paths that a project may
 * lack are written as patterns.
 */
export function renderAgents(project: Project): string {
  const { api, server, auth } = project;
  const tables = project.entities.length > 0 && !project.unmanaged;
  return `# AGENTS.md

A Twofold project: two files in, \`schema.graphql\` and \`manifest.yaml\`, and a typed Koa server out.
Change these two files, run the generator, and write functions only for what it cannot infer.

## Commands

    npm run generate                   # writes src/generated${tables ? ' and migrations' : ''}; run it after each change of the two files
    npm run check                      # findings, files that are out of date, types; writes nothing
    npm test                           # the tests in test/
    npm run dev                        # generates, migrates and restarts on every save; keeps running
    npm run generator -- explain       # how each type and field is stored, resolved and guarded
    npm run generator -- --help        # all commands; --help after one explains it
${tables ? '    npm run migrate -- status          # what is applied to the database, and what is not\n' : ''}
\`npm start\` serves http://localhost:${server.port}${api.path}. Every command takes \`--json\` and then prints one document with \`ok\`; \`npm run -s generator -- dev --json\`
prints one event a line. Exit codes: 0 done, 1 something differs, 2 wrong use, 3 wrong inputs, 4 a merge is left, 5 a decision is needed.

## Whose file is what

| Where | Whose |
|---|---|
| \`schema.graphql\`, \`manifest.yaml\` | yours: the inputs |
| \`src/generated/\` | the generator's. Never edit it: a run refuses an edited file |
| \`src/resolvers/<Type>.ts\` | yours: \`export const resolvers = { … } satisfies types.<Type>Overrides\` |
| \`src/hooks/<Type>.ts\`, \`src/routes.ts\`, \`src/jobs/<name>.ts\`, \`src/plugins/<name>.ts\` | yours: code around writes, own routes, jobs, middleware |
| \`src/server.ts\`, \`test/\` | yours |
${tables ? '| `migrations/` | written by the generator, one file a change. Edit one only before it is applied; never one that is committed |\n' : ''}| \`package.json\`, \`README.md\`, \`AGENTS.md\`, \`Dockerfile\`, \`.env.example\` … | shared: the generator merges its changes into yours |
| \`generator.lock\`, \`.generator/\` | the generator's. Commit the first; never edit them |
| \`.env\` | yours, with secrets: never print or commit it |

${FINDINGS}## Conventions

- **Schema.** A type with \`id: ID!\` is a table, a field of another such type is a foreign key, and a list of it is the other side. \`Query\` and \`Mutation\` fields are
  inferred from their names (\`posts\`, \`post(id:)\`, \`createPost\`, \`updatePost\`, \`deletePost\`). What is not inferred stands in \`yours\` of \`generator check --json\`: write
  its function, or rename the field. Mark a field with a function of yours \`@computed\`. \`npm run generator -- explain\` says which rule decided.
- **Renaming.** Never rename a type or field in the schema only: the new one would begin empty. Use \`generator rename Post.body Post.text\`, or \`@renamed(from:)\`.
- **Rules.** ${rulesOf(auth !== null, api.access)} Rules are part of every statement, of relations and lists too; do not check them again in functions.
- **Functions.** They take \`(parent, args, ctx)\`. Read and write by \`ctx.data.post\`, which has hooks, rules and events of the API, or by \`ctx.db\` (Kysely), which has none.
  Load by \`ctx.loaders\` in fields of lists. Work that must succeed together goes into \`ctx.transaction\`.
- **Errors.** Throw \`failure.notFound('…')\` and the like of \`@twofold/runtime\`: other errors are masked.
- **Settings.** Values that differ between machines are settings in \`.env\`; \`.env.example\` lists them. Everything else is in \`manifest.yaml\`.

${LOSSES}## Tools

\`generator mcp\` gives these answers as tools: check, explain, plan, docs and query (the development database, read-only). The line for an editor's configuration:

    { "mcpServers": { "${project.name}": { "command": "npx", "args": ["generator", "mcp"] } } }

The documentation is installed: ${PACKAGE}/llms.txt lists its pages.
`;
}

function rulesOf(signIn: boolean, access: 'user' | 'public'): string {
  const open =
    access === 'public'
      ? 'What has no `@auth` is open to everyone.'
      : 'What has no `@auth` needs a signed-in user.';
  return signIn
    ? `\`@auth(allow: [OWNER, ROLE, USER, PUBLIC], …)\` on a type or field says who may read and write it. ${open}`
    : `There is no sign-in: \`auth: {}\` in the manifest adds it, and \`@auth\` then says who may read and write. ${open}`;
}
