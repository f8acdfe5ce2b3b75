import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cacheExchange, Client, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import { createClient as createSse } from 'graphql-sse';
import { createPost, signIn, until, url } from './session.ts';

const connect = (headers: Record<string, string> = {}, more: object = {}) =>
  new Client({
    url: `${url}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { headers },
    preferGetMethod: false,
    ...more,
  });

it('queries with variables, and again from its cache', async () => {
  let asked = 0;
  const client = connect(
    {},
    { fetch: (...request: Parameters<typeof fetch>) => ((asked += 1), fetch(...request)) },
  );
  const query = gql`query ($id: ID!) { author(id: $id) { id name } }`;
  const first = await client.query(query, { id: 'Author:1' }).toPromise();
  assert.equal(first.error, undefined);
  assert.deepEqual({ ...first.data.author }, { __typename: 'Author', id: 'Author:1', name: 'Ada' });
  const again = await client.query(query, { id: 'Author:1' }).toPromise();
  assert.deepEqual([again.data, again.stale, asked], [first.data, false, 1]);
  assert.equal((await client.query(query, { id: 'Author:2' }).toPromise()).data.author.name, 'Bob');
  assert.equal(asked, 2);
});

it('queries by GET, as its default is for short documents', async () => {
  const result = await connect({}, { preferGetMethod: true })
    .query('{ posts(first: 1) { totalCount } }', {})
    .toPromise();
  assert.equal(result.error, undefined);
  assert.ok(result.data.posts.totalCount >= 7);
});

it('reads a query again after a mutation of its type', async () => {
  const client = connect();
  const titles: string[] = [];
  const { unsubscribe } = client
    .query('{ post(id: "Post:3") { id title } }', {})
    .subscribe(({ data }) => void titles.push(data?.post.title));
  await until(() => titles.length === 1);
  const done = await client
    .mutation(
      'mutation ($title: String!) { updatePost(id: "Post:3", title: $title) { id title } }',
      { title: 'Third' },
    )
    .toPromise();
  assert.equal(done.error, undefined);
  await until(() => titles.at(-1) === 'Third');
  unsubscribe();
});

it('tells an error of a field beside the data, and one of a document with its message', async () => {
  const partial = await connect().query('{ post(id: "Post:2") { id fragile } }', {}).toPromise();
  assert.equal(partial.data.post.fragile, null);
  assert.deepEqual(partial.error?.graphQLErrors[0]?.path, ['post', 'fragile']);
  const wrong = await connect().query('{ nothing }', {}).toPromise();
  assert.equal(wrong.error?.graphQLErrors[0]?.extensions['code'], 'GRAPHQL_VALIDATION_FAILED');
  assert.equal(wrong.error?.networkError, undefined);
});

it('tells a conflict and a refusal by their codes', async () => {
  const taken = await connect()
    .mutation('mutation { createAuthor(name: "Eve", email: "ada@example.test") { id } }', {})
    .toPromise();
  assert.equal(taken.error?.graphQLErrors[0]?.extensions['code'], 'CONFLICT');
  const refused = await connect().query('{ diaries { id } }', {}).toPromise();
  assert.equal(refused.error?.graphQLErrors[0]?.extensions['code'], 'UNAUTHENTICATED');
  const token = await signIn();
  const allowed = await connect({ authorization: `Bearer ${token}` })
    .query('{ diaries { id } }', {})
    .toPromise();
  assert.equal(allowed.error, undefined);
});

it('subscribes through its own fetch, over server-sent events', async () => {
  const client = connect({}, { fetchSubscriptions: true });
  await hear(client);
});

it('subscribes through graphql-sse', async () => {
  const sse = createSse({ url: `${url}/graphql` });
  const exchange = subscriptionExchange({
    forwardSubscription: (operation) => ({
      subscribe: (sink) => ({
        unsubscribe: sse.subscribe(
          {
            query: operation.query ?? '',
            variables: operation.variables as Record<string, unknown>,
          },
          sink as never,
        ),
      }),
    }),
  });
  await hear(
    new Client({
      url: `${url}/graphql`,
      exchanges: [cacheExchange, fetchExchange, exchange],
      preferGetMethod: false,
    }),
  );
});

it('knows who is signed in, and reads the root again below it', async () => {
  const query = '{ me { id email } viewer { me { id } posts(first: 1) { posts { id } } } }';
  const nobody = await connect().query(query, {}).toPromise();
  assert.deepEqual([nobody.error, nobody.data.me, nobody.data.viewer.me], [undefined, null, null]);
  const token = await signIn();
  const { data } = await connect({ authorization: `Bearer ${token}` })
    .query(query, {})
    .toPromise();
  assert.equal(data.me.id, data.viewer.me.id);
  assert.match(data.me.email, /@example.test$/);
});

it('gets the members of a result union by their types, and no error', async () => {
  const add = (name: string) =>
    connect()
      .mutation(
        'mutation ($name: String!) { addAuthor(name: $name, email: "ada@example.test") { ... on EmailTaken { field } ... on InvalidAuthor { fields } } }',
        { name },
      )
      .toPromise();
  const [taken, invalid] = [await add('Eve'), await add('E')];
  assert.deepEqual([taken.error, invalid.error], [undefined, undefined]);
  assert.deepEqual({ ...taken.data.addAuthor }, { __typename: 'EmailTaken', field: 'email' });
  assert.deepEqual(invalid.data.addAuthor.fields, ['name']);
});

it('gets members beside what is standard, and the error of one that is not written at its path', async () => {
  const { data, error } = await connect()
    .query('{ posts(first: 1) { edges { rank } posts { title } lastSyncId } }', {})
    .toPromise();
  assert.equal(data.posts.edges[0].rank, data.posts.posts[0].title.length);
  assert.deepEqual(
    error?.graphQLErrors.map(({ path }) => path),
    [['posts', 'lastSyncId']],
  );
});

it('reads a 401 with its code', async () => {
  const { error } = await connect({ authorization: 'Bearer wrong' })
    .query('{ me { id } }', {})
    .toPromise();
  assert.equal(error?.graphQLErrors[0]?.extensions['code'], 'UNAUTHENTICATED');
  assert.equal(error?.response?.status, 401);
});

async function hear(client: Client): Promise<void> {
  const titles: string[] = [];
  const errors: unknown[] = [];
  const { unsubscribe } = client
    .subscription('subscription { postCreated { id title } }', {})
    .subscribe(({ data, error }) => {
      if (error) errors.push(error);
      if (data) titles.push(data.postCreated.title);
    });
  await until(async () => (await createPost('warm'), titles.length > 0 || errors.length > 0));
  await createPost('wanted');
  await until(() => titles.includes('wanted') || errors.length > 0);
  unsubscribe();
  assert.deepEqual(errors, []);
}
