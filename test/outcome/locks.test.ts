import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { atOnce, everywhere } from './places.ts';

const SDL = `
  type Ticket { id: ID! name: String! @unique state: String! taken: Int! @default(value: 0) }
  type Query { tickets: [Ticket!]! }
  type Mutation { createTicket(name: String!, state: String!): Ticket! }
`;

everywhere('row locks', { sdl: SDL }, (servers) => {
  const api = () => servers[0]!.ctx as any;

  beforeEach(async () => {
    const data = Array.from({ length: 40 }, (_, at) => ({ name: `t${at}`, state: 'OPEN' }));
    await api().data.ticket.createMany({ data });
  });

  it('give each row of a queue to one of 8 takers', async () => {
    const taken: string[] = [];
    await atOnce(servers, 8, async ({ ctx }) => {
      for (;;) {
        const id = await ctx.transaction(async () => {
          const ticket = await ctx.data.ticket.findFirst({
            where: { state: 'OPEN' },
            orderBy: { id: 'asc' },
            for: 'update',
            skipLocked: true,
          });
          if (!ticket) return null;
          const { id } = ticket;
          await ctx.data.ticket.update({
            where: { id },
            data: { state: 'DONE', taken: { increment: 1 } },
          });
          return id;
        });
        if (id === null) break;
        taken.push(String(id));
      }
    });
    // What others held at the end of a taker is left out by it, and taken by them.
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.length).toBe(40);
    const rows = await api().data.ticket.findMany();
    expect(rows.map((row: any) => row.taken)).toEqual(Array.from({ length: 40 }, () => 1));
  });

  it('are waited for, or are a conflict at once with noWait', async () => {
    const [first, second] = [servers[0]!, servers.at(-1)!];
    const locked = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    const order: string[] = [];
    const holds = first.ctx.transaction(async () => {
      await first.ctx.data.ticket.findUnique({ where: { name: 't1' }, for: 'update' });
      locked.resolve();
      await free.promise;
      order.push('first');
    });
    await locked.promise;
    const lock = (more: object) =>
      second.ctx.transaction(
        () => second.ctx.data.ticket.findUnique({ where: { name: 't1' }, for: 'update', ...more }),
        { isolation: 'read committed' },
      );
    if (servers.length > 1) {
      expect(await lock({ skipLocked: true })).toBe(null);
      await expect(lock({ noWait: true })).rejects.toMatchObject({
        code: 'CONFLICT',
        extensions: { reason: 'LOCKED' },
      });
    }
    const waits = lock({}).then(() => void order.push('second'));
    await pause(50);
    free.resolve();
    await Promise.all([holds, waits]);
    expect(order).toEqual(['first', 'second']);
  });

  it('are refused outside of a transaction, and with words that do not fit', async () => {
    const { ticket } = api().data;
    const one = { where: { id: 1 } };
    await expect(ticket.findUnique({ ...one, for: 'update' })).rejects.toMatchObject({
      code: 'TRANSACTION_REQUIRED',
    });
    await expect(ticket.findFirst({ skipLocked: true })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    await api().transaction(async () => {
      for (const wrong of [{ for: 'share' }, { for: 'update', skipLocked: true, noWait: true }])
        await expect(ticket.findFirst(wrong)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
      expect(await ticket.findUnique({ ...one, for: 'update' })).toMatchObject({ name: 't0' });
    });
  });
});
