import { join } from 'node:path';

/** The server of `own-code.ts`, of the checkout in `TWOFOLD_ROOT`. */
const root = process.env['TWOFOLD_ROOT'] ?? join(import.meta.dirname, '../..');
const SDL = `
  type Note { id: ID! title: String! text: String! @default(value: "") }
  type Query { note(id: ID!): Note }
  type Mutation { createNote(title: String!): Note! ownNote(title: String!): Note! }
`;
const { createServer } = (await import(
  join(root, 'runtime/core/index.ts')
)) as typeof import('../../runtime/core/index.ts');

const server = createServer()
  .schema(SDL, 'name: bench\napi: { rest: false }\n')
  .plugin({
    name: 'own',
    resolvers: {
      Mutation: {
        ownNote: (_: unknown, { title }: { title: string }, ctx: any) =>
          ctx.data.note.create({ data: { title } }),
      },
    },
  });
const running = await server.start('127.0.0.1:0', {
  env: { ...process.env, LOG_LEVEL: 'error' },
});
process.send?.(Number(new URL(running.url).port));
// The benchmark may be ended by a signal.
process.on('disconnect', () => process.exit());
