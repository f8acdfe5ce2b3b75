import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createClient } from 'graphql-sse';
import { createPost, running, signIn, until, url, write } from './session.ts';

const connect = (headers: Record<string, string> = {}) =>
  createClient({ url: `${url}/graphql`, headers, retryAttempts: 0 });

it('answers a query and a mutation as one event', async () => {
  const [first] = await Array.fromAsync(
    connect().iterate({ query: '{ author(id: "Author:1") { name } }' }),
  );
  assert.deepEqual(first, { data: { author: { name: 'Ada' } } });
  const [second] = await Array.fromAsync(
    connect().iterate({ query: 'mutation { updatePost(id: "Post:1", title: "First") { title } }' }),
  );
  assert.deepEqual(second, { data: { updatePost: { title: 'First' } } });
});

it('tells of changes until the client breaks off', async () => {
  const titles: string[] = [];
  const reading = (async () => {
    for await (const { data } of connect().iterate<{ postChanged: { title: string } }>({
      query: 'subscription ($id: ID) { postChanged(id: $id) { title } }',
      variables: { id: null },
    })) {
      titles.push(data?.postChanged.title ?? '');
      if (titles.at(-1) === 'wanted 2') break;
    }
  })();
  await until(async () => (await createPost('warm'), titles.length > 0));
  for (const n of [1, 2]) await createPost(`wanted ${n}`);
  await reading;
  assert.deepEqual(
    titles.filter((title) => title.startsWith('wanted')),
    ['wanted 1', 'wanted 2'],
  );
});

it('gives errors of a document and of a variable as results', async () => {
  // Before the first event the answer is an ordinary refusal, which this client tells by its response.
  const refusal = async (query: string, variables: Record<string, unknown> = {}) => {
    const thrown: any = await new Promise(
      (resolve) =>
        void connect().subscribe(
          { query, variables },
          { next: resolve, error: resolve, complete: () => resolve(undefined) },
        ),
    );
    return [thrown.response.status, (await thrown.response.json()).errors[0].extensions.code];
  };
  assert.deepEqual(await refusal('{ nothing }'), [400, 'GRAPHQL_VALIDATION_FAILED']);
  assert.deepEqual(await refusal('subscription { nothing }'), [400, 'GRAPHQL_VALIDATION_FAILED']);
  assert.deepEqual(
    await refusal('subscription ($id: ID!) { postChanged(id: $id) { title } }', { id: [] }),
    [400, 'BAD_USER_INPUT'],
  );
  const [partial] = await Array.fromAsync(
    connect().iterate<any>({ query: '{ post(id: "Post:2") { id fragile } }' }),
  );
  assert.deepEqual(
    [partial?.data, partial?.errors?.[0]?.path],
    [{ post: { id: 'Post:2', fragile: null } }, ['post', 'fragile']],
  );
});

it('knows who calls from the headers', async () => {
  const token = await signIn();
  const seen: unknown[] = [];
  const stop = connect({ authorization: `Bearer ${token}` }).subscribe(
    { query: 'subscription { diaryCreated { text } }' },
    {
      next: ({ data }) => void seen.push(data),
      error: (error) => assert.fail(String(error)),
      complete: () => {},
    },
  );
  await until(
    async () => (
      await write('mutation { createDiary(text: "dear") { id } }', token),
      seen.length > 0
    ),
  );
  stop();
  assert.deepEqual(seen[0], { diaryCreated: { text: 'dear' } });
});

it('stops the work of an operation that the client gave up', async () => {
  const stop = connect().subscribe(
    { query: '{ slow(milliseconds: 1900) }' },
    { next: () => {}, error: () => {}, complete: () => {} },
  );
  await until(async () => (await running()) === 1);
  stop();
  const asked = performance.now();
  await until(async () => (await running()) === 0);
  assert.ok(performance.now() - asked < 1500, 'it ran to its end');
});
