import { beforeEach, expect, it } from 'vitest';
import { atOnce, everywhere, type Server } from './places.ts';

const SDL = `
  scalar BigInt
  scalar Decimal
  type Product {
    id: ID! name: String! @unique stock: Int! @constraint(min: 0) big: BigInt! price: Decimal!
    weight: Float maybe: Int tags: [String!] @constraint(maxItems: 4, maxLength: 5) notes: [Note!]!
  }
  type Note { id: ID! reads: Int! @default(value: 0) product: Product }
  input IntChange { set: Int increment: Int decrement: Int multiply: Int }
  input BigIntChange { increment: BigInt decrement: BigInt multiply: BigInt }
  input DecimalChange { set: Decimal multiply: Decimal increment: Decimal }
  input FloatChange { increment: Float }
  input TagsChange { set: [String!] push: [String!] }
  input NotePatch { reads: IntChange }
  input NotesPatch { update: [NoteUpdate!] }
  input NoteUpdate { where: NoteKey! data: NotePatch! }
  input NoteKey { id: ID! }
  input ProductPatch {
    name: String stock: IntChange big: BigIntChange price: DecimalChange weight: FloatChange
    maybe: IntChange tags: TagsChange
  }
  input ProductNotes { notes: NotesPatch }
  input NewProduct { name: String! stock: Int! big: BigInt! price: Decimal! }
  input ProductFilter { name: TextFilter }
  input TextFilter { startsWith: String }
  type Query { products: [Product!]! product(id: ID!): Product }
  type Mutation {
    createProduct(input: NewProduct!): Product!
    updateProduct(id: ID!, input: ProductPatch!): Product
    annotateProduct(id: ID!, input: ProductNotes!): Product @resolve(as: UPDATE)
    updateProducts(where: ProductFilter!, input: ProductPatch!): Int!
    upsertProduct(where: ProductKey!, create: NewProduct!, update: ProductPatch!): Product!
  }
  input ProductKey { name: String! }
`;
const seen: unknown[] = [];
const hooks = {
  Note: { validate: { update: ({ input }: any) => void seen.push(input) } },
};

const FIELDS = 'stock big price weight maybe tags';

everywhere('operators', { sdl: SDL, entityHooks: hooks as never }, (servers) => {
  const api = () => servers[0]!.ctx as any;
  const product = (name = 'tea') => api().data.product.findUnique({ where: { name } });
  const update = ({ query }: Server, input: Record<string, unknown>) =>
    query(
      `mutation ($input: ProductPatch!) { updateProduct(id: 1, input: $input) { ${FIELDS} } }`,
      { input },
    );

  beforeEach(async () => {
    seen.length = 0;
    await api().data.product.create({
      data: { name: 'tea', stock: 60, big: '9007199254740993', price: '1.10', weight: 1.5 },
    });
  });

  it('of 100 decrements of a stock of 60, 60 succeed and 40 are refused', async () => {
    const answers = await atOnce(servers, 100, (server) =>
      update(server, { stock: { decrement: 1 } }),
    );
    const refused = answers.flatMap(({ errors = [] }) => errors);
    expect(refused.length).toBe(40);
    for (const { extensions, message } of refused) {
      expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'stock' });
      expect(message).toBe('stock must be at least 0');
    }
    expect((await product()).stock).toBe(0);
  });

  it('by GraphQL, REST and ctx.data, many at once, none is lost', async () => {
    await atOnce(servers, 30, async (server, at) => {
      if (at % 3 === 0) return update(server, { stock: { increment: 1 } });
      if (at % 3 === 1)
        return fetch(`${server.url}/api/products/1`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ stock: { increment: 1 } }),
        });
      return server.ctx.data.product.update({
        where: { name: 'tea' },
        data: { stock: { increment: 1 } },
      });
    });
    expect((await product()).stock).toBe(90);
  });

  it('are exact, and null stays null', async () => {
    const { data, errors } = await update(servers[0]!, {
      big: { multiply: '3' },
      price: { multiply: '1.10' },
      weight: { increment: 0.25 },
      maybe: { increment: 1 },
      stock: { multiply: 2 },
    });
    expect(errors).toBe(undefined);
    expect(data.updateProduct).toEqual({
      big: '27021597764222979',
      price: '1.2100',
      weight: 1.75,
      maybe: null,
      stock: 120,
      tags: null,
    });
    await api().data.product.update({
      where: { id: 1 },
      data: { big: { decrement: '27021597764222980' }, price: { set: '2' }, maybe: { set: 4 } },
    });
    expect(await product()).toMatchObject({ big: '-1', price: '2', maybe: 4 });
  });

  it('push on a list, and on null', async () => {
    const push = (tags: unknown) =>
      api().data.product.update({ where: { id: 1 }, data: { tags: { push: tags } } });
    expect((await push('a')).tags).toEqual(['a']);
    expect((await push(['b', '"c'])).tags).toEqual(['a', 'b', '"c']);
    const answer = await update(servers[0]!, { tags: { push: ['d'] } });
    expect(answer.data.updateProduct.tags).toEqual(['a', 'b', '"c', 'd']);
    await expect(push('e')).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      extensions: { field: 'tags' },
    });
    await expect(push('too long')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect((await product()).tags).toEqual(['a', 'b', '"c', 'd']);
  });

  it('beyond its type a result is refused with its field, and nothing is changed', async () => {
    const max = '9223372036854775807';
    for (const input of [
      { stock: { increment: 2147483647 } },
      { stock: { multiply: 2147483647 } },
      { big: { increment: max } },
      { big: { multiply: max } },
      { weight: { increment: 1 }, stock: { decrement: 61 } },
    ]) {
      const { errors } = await update(servers[0]!, input);
      expect(errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(['stock', 'big']).toContain(errors?.[0].extensions.field);
    }
    expect(await product()).toMatchObject({ stock: 60, big: '9007199254740993', weight: 1.5 });
  });

  it('two words at once, or none, or null are refused', async () => {
    for (const [stock, field] of [
      [{}, 'input.stock'],
      [{ increment: 1, decrement: 1 }, 'input.stock'],
      [{ increment: null }, 'input.stock.increment'],
      [{ set: -1 }, 'input.stock'],
    ] as const) {
      const { errors } = await update(servers[0]!, { stock });
      expect(errors?.[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', field });
    }
    const { data } = api();
    const wrong = (stock: unknown) => data.product.update({ where: { id: 1 }, data: { stock } });
    await expect(wrong({ increment: 'x' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(wrong({ push: 1 })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(
      data.product.create({ data: { name: 'x', stock: { increment: 1 }, big: 1, price: 1 } }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'stock' } });
    expect((await product()).stock).toBe(60);
  });

  it('in many, in an upsert and in a nested update', async () => {
    const { query, ctx } = servers[0]!;
    const many = await query(
      'mutation { updateProducts(where: { name: { startsWith: "t" } }, input: { stock: { decrement: 5 } }) }',
    );
    expect(many.data).toEqual({ updateProducts: 1 });
    const upsert = (name: string) =>
      query(
        `mutation { upsertProduct(where: { name: "${name}" }, create: { name: "${name}", stock: 1, big: 1, price: 1 }, update: { stock: { increment: 2 } }) { stock } }`,
      );
    expect((await upsert('tea')).data.upsertProduct.stock).toBe(57);
    expect((await upsert('milk')).data.upsertProduct.stock).toBe(1);
    await ctx.data.note.create({ data: { product: { connect: { id: 1 } } } });
    const nested = await query(
      'mutation { annotateProduct(id: 1, input: { notes: { update: [{ where: { id: 1 }, data: { reads: { increment: 3 } } }] } }) { notes { reads } } }',
    );
    expect(nested.data.annotateProduct.notes).toEqual([{ reads: 3 }]);
    expect(seen).toEqual([{ reads: { increment: 3 } }]);
    await ctx.data.product.updateMany({
      where: { stock: { gt: 0 } },
      data: { stock: { multiply: 2 } },
    });
    expect((await product()).stock).toBe(114);
  });
});
