import { describe, expect, it } from 'vitest';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startServer } from '../graphql/harness.ts';

describe.each(databases)('a hook that never ends on %s', (database) => {
  it.each(['never', 'writes'])(
    'is rolled back at the time limit of transactions, and others write (%s)',
    async (text) => {
      const begun = Promise.withResolvers<void>();
      const late = Promise.withResolvers<void>();
      const server = await startServer(
        `type Note { id: ID! text: String! }
         type Query { notes: [Note!]! }
         type Mutation { createNote(text: String!): Note! }`,
        {
          database,
          manifest: 'name: slow\ndatabase: { transaction_timeout: 300ms }\n',
          entityHooks: {
            Note: {
              afterOperation: async ({ item, ctx }) => {
                await ctx.data.note.count();
                if (item.text !== text) return;
                begun.resolve();
                await late.promise;
                await ctx.data.note.count();
              },
            },
          },
        },
      );
      const create = (given: string) =>
        server.query('mutation ($text: String!) { createNote(text: $text) { text } }', {
          text: given,
        });
      try {
        const stuck = create(text);
        await begun.promise;
        const other = create('other');
        if (text === 'writes') setTimeout(late.resolve, 300);
        expect((await stuck).errors?.[0].extensions.code).toBe('TIMEOUT');
        expect(await other).toEqual({ data: { createNote: { text: 'other' } } });
        expect(server.lines.join('\n')).toContain('createNote, whose hooks are part of it');
        expect(await server.query('{ notes { text } }')).toEqual({
          data: { notes: [{ text: 'other' }] },
        });
      } finally {
        late.resolve();
        await server.close();
      }
    },
  );

  it.each(['update', 'delete'])(
    'ends a ctx.data.%s by a unique key, which looks for the row first',
    async (name) => {
      const never = new Promise<void>(() => {});
      const lines: string[] = [];
      const server = await startServer(
        `type Note { id: ID! key: String! @unique text: String! }
         type Query { notes: [Note!]! }
         type Mutation { createNote(key: String!, text: String!): Note! }`,
        {
          database,
          manifest: 'name: slow\ndatabase: { transaction_timeout: 300ms }\n',
          entityHooks: { Note: { beforeOperation: { [name]: () => never } } },
        },
      );
      const log = {
        warn: (fields: object, text: string) => lines.push(text + JSON.stringify(fields)),
      };
      const { data } = systemContext({
        store: server.store,
        log: { child: () => log } as never,
      }) as any;
      const create = (key: string) => data.note.create({ data: { key, text: 'x' } });
      try {
        await create('a');
        const stuck = data.note[name]({
          where: { key: 'a' },
          ...(name === 'update' && { data: { text: 'y' } }),
        });
        await expect(stuck).rejects.toMatchObject({ code: 'TIMEOUT' });
        expect(lines.join('\n')).toContain('Note, whose hooks are part of it');
        await create('b');
        expect(await data.note.findMany()).toMatchObject([
          { key: 'a', text: 'x' },
          { key: 'b', text: 'x' },
        ]);
      } finally {
        await server.close();
      }
    },
  );
});
