/** Every way in which own code counts the rows of a type, by its name. */
export const HANDLES: Readonly<Record<string, (ctx: any, type: string) => Promise<number>>> = {
  'ctx.data.findMany': async (ctx, type) => (await ctx.data[one(type)].findMany()).length,
  'ctx.data.findFirst': async (ctx, type) => (
    await ctx.data[one(type)].findFirst({ orderBy: { id: 'asc' } }),
    ctx.data[one(type)].count()
  ),
  'ctx.data.findUnique': async (ctx, type) => (
    await ctx.data[one(type)].findUnique({ where: { id: 1001 } }),
    ctx.data[one(type)].count()
  ),
  'ctx.data.count': (ctx, type) => ctx.data[one(type)].count(),
  'ctx.sudo()': (ctx, type) => ctx.sudo().data[one(type)].count(),
  'ctx.db': async (ctx, type) =>
    (await ctx.db.selectFrom(many(type)).select('id').execute()).length,
  'ctx.db.transaction': (ctx, type) =>
    ctx.db
      .transaction()
      .execute(
        async (trx: any) => (await trx.selectFrom(many(type)).select('id').execute()).length,
      ),
  'ctx.graphql': async (ctx, type) =>
    (await ctx.graphql(`{ ${many(type)} { id } }`))[many(type)].length,
  'ctx.transaction': (ctx, type) => ctx.transaction(() => ctx.data[one(type)].count()),
  'ctx.lock': (ctx, type) => ctx.lock('count', () => ctx.data[one(type)].count()),
  'ctx.loaders': async (ctx, type) => (
    await ctx.loaders[one(type)].load('1001'),
    ctx.data[one(type)].count()
  ),
  'two at once': async (ctx, type) =>
    (await Promise.all([ctx.data[one(type)].count(), ctx.data[one(type)].findMany()]))[1].length,
};

const one = (type: string) => `${type[0]!.toLowerCase()}${type.slice(1)}`;
const many = (type: string) => `${one(type)}s`;
