import { afterEach, describe, expect, it } from 'vitest';
import { databases, startRest, type RestServer } from './harness.ts';

const SDL = `
  type Author { id: Int! name: String! todos(limit: Int): [Todo!]! @relation(inverse: "author") }
  type Todo { id: Int! text: String! author: Author! editor: Author editorId: Int }
  type Category { id: ID! title: String! }
  type Product { id: ID! category: Category categoryId: String name: String! }
  input TodoFilter { id: IntFilter authorId: IntFilter }
  input IntFilter { eq: Int in: [Int!] gt: Int }
  input NewProduct { name: String! categoryId: String }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type TodoEdge { cursor: String! node: Todo! }
  type TodoConnection { edges: [TodoEdge!]! pageInfo: PageInfo! todos: [Todo!]! weight: Int }
  type TodoPayload { todo: Todo lastSyncId: Float! success: Boolean! }
  type Query {
    author(id: Int!): Author  authors: [Author!]!
    todo(id: Int!): Todo  todos(where: TodoFilter, authorId: Int): [Todo!]!
    todosConnection(first: Int, after: String): TodoConnection!
    product(id: String!): Product  products(categoryId: String): [Product!]!
  }
  type Mutation {
    createAuthor(name: String!): Author!
    createTodo(text: String!, authorId: Int!, editorId: Int): TodoPayload!
    updateTodo(id: Int!, text: String): Todo
    deleteTodo(id: Int!): Boolean!
    createCategory(title: String!): Category!
    createProduct(input: NewProduct!): Product!
  }
  type Subscription { todoChanged(id: Int!): Todo! }
`;

describe.each(databases)('keys that the schema shows as Int or String on %s', (database) => {
  let server: RestServer;
  afterEach(() => server.close());

  const data = async (query: string) => {
    const answer = await server.query(query);
    expect(answer.errors).toBeUndefined();
    return answer.data;
  };

  const start = async () => {
    server = await startRest(SDL, { database });
    await data(
      'mutation { a: createAuthor(name: "Ada") { id } b: createAuthor(name: "Bo") { id } }',
    );
    await data(
      'mutation { a: createTodo(text: "one", authorId: 1, editorId: 2) { success } b: createTodo(text: "two", authorId: 2) { success } }',
    );
  };

  it('are numbers in GraphQL, as the schema says', async () => {
    await start();
    expect(
      await data('{ todo(id: 1) { id text editorId author { id name } editor { id } } }'),
    ).toEqual({
      todo: { id: 1, text: 'one', editorId: 2, author: { id: 1, name: 'Ada' }, editor: { id: 2 } },
    });
    expect(await data('{ todos(where: { id: { in: [2, 7] } }) { id } }')).toEqual({
      todos: [{ id: 2 }],
    });
    expect(await data('{ todos(authorId: 1) { id author { todos { id } } } }')).toEqual({
      todos: [{ id: 1, author: { todos: [{ id: 1 }] } }],
    });
    expect(await data('mutation { updateTodo(id: 2, text: "zwei") { id text } }')).toEqual({
      updateTodo: { id: 2, text: 'zwei' },
    });
    expect(await data('mutation { deleteTodo(id: 2) }')).toEqual({ deleteTodo: true });
    expect(await data('{ todos { id } }')).toEqual({ todos: [{ id: 1 }] });
  });

  it('are numbers in REST', async () => {
    await start();
    expect((await server.get('/api/todos/1')).body).toEqual({
      id: 1,
      text: 'one',
      authorId: 1,
      editorId: 2,
    });
    expect((await server.get('/api/todos?authorId=2&include=author')).body.data).toEqual([
      { id: 2, text: 'two', authorId: 2, editorId: null, author: { id: 2, name: 'Bo' } },
    ]);
    expect((await server.get('/api/todos?id=1&fields=id')).body.data).toEqual([{ id: 1 }]);
    const changed = await server.call('PUT', '/api/todos/1', { body: { text: 'eins' } });
    expect(changed).toMatchObject({ status: 200, body: { id: 1, text: 'eins' } });
    expect((await server.call('DELETE', '/api/todos/1')).status).toBe(204);
    expect((await server.get('/api/todos/1')).status).toBe(404);
    expect((await server.get('/api/todos/x')).body).toEqual({ error: 'Invalid id format' });
  });

  it('show the key of a relation as a text', async () => {
    await start();
    await data('mutation { createCategory(title: "Tea") { id } }');
    const created = await data(
      'mutation { createProduct(input: { name: "Green", categoryId: "1" }) { id categoryId category { title } } }',
    );
    expect(created).toEqual({
      createProduct: { id: '1', categoryId: '1', category: { title: 'Tea' } },
    });
    expect(
      await data('{ product(id: "1") { categoryId } products(categoryId: "1") { name } }'),
    ).toEqual({ product: { categoryId: '1' }, products: [{ name: 'Green' }] });
  });

  it('pages, and leaves further members of connections and payloads to the user', async () => {
    await start();
    const page = await server.query(
      '{ todosConnection(first: 1) { todos { id } edges { cursor node { id } } weight } }',
    );
    expect(page.data.todosConnection).toMatchObject({
      todos: [{ id: 1 }],
      edges: [{ node: { id: 1 } }],
      weight: null,
    });
    expect(page.errors).toMatchObject([
      {
        path: ['todosConnection', 'weight'],
        extensions: { code: 'NOT_IMPLEMENTED', coordinate: 'TodoConnection.weight' },
      },
    ]);
    const [{ cursor }] = page.data.todosConnection.edges;
    expect(
      await data(
        `{ todosConnection(first: 1, after: "${cursor}") { todos { id } pageInfo { hasNextPage } } }`,
      ),
    ).toEqual({ todosConnection: { todos: [{ id: 2 }], pageInfo: { hasNextPage: false } } });
    const made = await server.query(
      'mutation { createTodo(text: "three", authorId: 1) { success todo { id } lastSyncId } }',
    );
    expect(made.errors).toMatchObject([
      { path: ['createTodo', 'lastSyncId'], extensions: { code: 'NOT_IMPLEMENTED' } },
    ]);
    expect(await data('{ todo(id: 3) { text } }')).toEqual({ todo: { text: 'three' } });
  });
});

describe.each(databases)('an order and its items on %s', (database) => {
  it('are served with a join table that has a name of its own', async () => {
    const server = await startRest(
      `type Order { id: ID! items: [OrderItem!]! } type OrderItem { id: ID! quantity: Int! }
       type Query { orders: [Order!]! }
       input NewOrder { items: NewItems } input NewItems { create: [NewItem!] } input NewItem { quantity: Int! }
       type Mutation { createOrder(input: NewOrder!): Order! }`,
      { database },
    );
    try {
      const { data, errors } = await server.query(
        'mutation { createOrder(input: { items: { create: [{ quantity: 2 }] } }) { items { quantity } } }',
      );
      expect(errors).toBeUndefined();
      expect(data).toEqual({ createOrder: { items: [{ quantity: 2 }] } });
    } finally {
      await server.close();
    }
  });
});
