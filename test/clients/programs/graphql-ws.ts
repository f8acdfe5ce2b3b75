import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { createPost, running, signIn, until, url, write } from './session.ts';

const clients: Client[] = [];
const connect = (options: Partial<ClientOptions> = {}): Client => {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: 0,
    ...options,
  });
  clients.push(client);
  return client;
};
after(() => Promise.all(clients.map((client) => client.dispose())));

it('answers a query and a mutation over the socket', async () => {
  const client = connect();
  const [first] = await Array.fromAsync(
    client.iterate({ query: '{ author(id: "Author:1") { name } }' }),
  );
  assert.deepEqual(first, { data: { author: { name: 'Ada' } } });
  const [second] = await Array.fromAsync(
    client.iterate({
      query:
        'mutation ($title: String!) { updatePost(id: "Post:1", title: $title) { title shout } }',
      variables: { title: 'First' },
    }),
  );
  assert.deepEqual(second, { data: { updatePost: { title: 'First', shout: 'FIRST' } } });
});

it('tells of changes until it is told to stop', async () => {
  const client = connect();
  const titles: string[] = [];
  const events = client.iterate<{ postCreated: { title: string } }>({
    query: 'subscription { postCreated { title author { name } } }',
  });
  const reading = (async () => {
    for await (const { data } of events) {
      titles.push(data?.postCreated.title ?? '');
      if (titles.at(-1) === 'wanted 3') break;
    }
  })();
  await until(async () => (await createPost('warm'), titles.length > 0));
  for (const n of [1, 2, 3]) await createPost(`wanted ${n}`);
  await reading;
  assert.deepEqual(
    titles.filter((title) => title.startsWith('wanted')),
    ['wanted 1', 'wanted 2', 'wanted 3'],
  );
});

it('gives errors of a document to the sink, and keeps the socket', async () => {
  const client = connect();
  await assert.rejects(
    async () => Array.fromAsync(client.iterate({ query: '{ nothing }' })),
    (errors: any) =>
      Array.isArray(errors) && errors[0].extensions.code === 'GRAPHQL_VALIDATION_FAILED',
  );
  const [partial] = await Array.fromAsync(
    client.iterate({ query: '{ post(id: "Post:2") { id fragile } }' }),
  );
  assert.deepEqual(partial?.data, { post: { id: 'Post:2', fragile: null } });
  assert.deepEqual((partial as any).errors[0].path, ['post', 'fragile']);
});

it('knows who calls from connectionParams, for queries and for events', async () => {
  const [refused] = await Array.fromAsync(connect().iterate({ query: '{ diaries { id } }' }));
  assert.equal((refused as any).errors[0].extensions.code, 'UNAUTHENTICATED');
  const token = await signIn();
  const client = connect({ connectionParams: async () => ({ authorization: `Bearer ${token}` }) });
  const seen: unknown[] = [];
  client.subscribe(
    { query: 'subscription { diaryCreated { text } }' },
    {
      next: ({ data }) => void seen.push(data),
      error: (error) => assert.fail(JSON.stringify(error)),
      complete: () => {},
    },
  );
  await until(
    async () => (
      await write('mutation { createDiary(text: "dear") { id } }', token),
      seen.length > 0
    ),
  );
  assert.deepEqual(seen[0], { diaryCreated: { text: 'dear' } });
});

it('refuses a wrong token as the protocol has it', async () => {
  const client = connect({ connectionParams: { authorization: 'Bearer of nothing' } });
  const thrown: any = await Array.fromAsync(client.iterate({ query: '{ __typename }' })).catch(
    (error: unknown) => error,
  );
  assert.equal(thrown.code, 4403);
});

it('stops the work of an operation that the client gave up', async () => {
  const client = connect();
  const stop = client.subscribe(
    { query: '{ slow(milliseconds: 1900) }' },
    { next: () => {}, error: () => {}, complete: () => {} },
  );
  await until(async () => (await running()) === 1);
  stop();
  const asked = performance.now();
  await until(async () => (await running()) === 0);
  assert.ok(performance.now() - asked < 1500, 'it ran to its end');
});
