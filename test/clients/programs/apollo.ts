import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { createPost, running, signIn, until, url } from './session.ts';

const uri = `${url}/graphql`;
const cache = () =>
  new InMemoryCache({
    typePolicies: { Query: { fields: { posts: relayStylePagination(['orderBy', 'where']) } } },
    possibleTypes: {
      Node: ['Author', 'Post', 'Tag', 'Diary', 'User'],
      Hit: ['Author', 'Tag'],
      AddAuthorResult: ['Author', 'EmailTaken', 'InvalidAuthor'],
    },
  });
const connect = (link: ApolloLink = new HttpLink({ uri })) =>
  new ApolloClient({ link, cache: cache() });

const PAGE = gql`
  query Page($after: String) {
    posts(first: 3, after: $after, orderBy: { title: ASC }, where: { title: { contains: "Post" } }) { edges { cursor node { id title author { id name } } } pageInfo { hasNextPage endCursor } totalCount }
  }
`;

it('reads pages into one list of its cache', async () => {
  const client = connect();
  const watched = client.watchQuery<any>({ query: PAGE });
  const first = await client.query<any>({ query: PAGE });
  assert.equal(first.data.posts.edges.length, 3);
  let { endCursor, hasNextPage } = first.data.posts.pageInfo;
  while (hasNextPage) {
    const more = await watched.fetchMore<any>({ variables: { after: endCursor } });
    ({ endCursor, hasNextPage } = (more.data as any).posts.pageInfo);
  }
  const { posts } = client.readQuery<any>({ query: PAGE });
  assert.deepEqual(
    posts.edges.map(({ node }: any) => node.title),
    [...posts.edges.map(({ node }: any) => node.title)].sort(),
  );
  assert.equal(posts.edges.length, posts.totalCount);
});

it('reads types of a union and a node by fragments', async () => {
  const { data } = await connect().query<any>({
    query: gql`{ hits { __typename ... on Author { id name } ... on Tag { id name } } node(id: "Author:2") { id ... on Author { name } } }`,
  });
  assert.deepEqual(
    new Set(data.hits.map(({ __typename }: any) => __typename)),
    new Set(['Author', 'Tag']),
  );
  assert.equal(data.node.name, 'Bob');
});

it('updates what is on show by the id that a mutation answers with', async () => {
  const client = connect();
  const query = gql`{ post(id: "Post:4") { id title rating } }`;
  await client.query({ query });
  await client.mutate({
    mutation: gql`mutation { updatePost(id: "Post:4", title: "Fourth", rating: null) { id title rating } }`,
  });
  assert.deepEqual(client.readQuery<any>({ query }).post, {
    __typename: 'Post',
    id: 'Post:4',
    title: 'Fourth',
    rating: null,
  });
});

it('tells errors with their codes, beside the data when the policy wants both', async () => {
  const thrown: any = await connect()
    .query({ query: gql`{ nothing }` })
    .catch((error: unknown) => error);
  assert.ok(CombinedGraphQLErrors.is(thrown), String(thrown));
  assert.equal(thrown.errors[0]?.extensions?.['code'], 'GRAPHQL_VALIDATION_FAILED');
  const both = await connect().query<any>({
    query: gql`{ post(id: "Post:2") { id fragile } }`,
    errorPolicy: 'all',
  });
  assert.equal(both.data.post.fragile, null);
  assert.ok(CombinedGraphQLErrors.is(both.error));
  const taken: any = await connect()
    .mutate({
      mutation: gql`mutation { createAuthor(name: "Eve", email: "ada@example.test") { id } }`,
    })
    .catch((error: unknown) => error);
  assert.equal(taken.errors[0].extensions.code, 'CONFLICT');
});

it('sends a hash first, and the text once', async () => {
  const hashes = new PersistedQueryLink({
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const asked: string[] = [];
  const link = ApolloLink.from([
    hashes,
    new HttpLink({
      uri,
      fetch: (address, options) => (asked.push(String(options?.body)), fetch(address, options)),
    }),
  ]);
  const query = gql`{ author(id: "Author:2") { id email } }`;
  assert.equal((await connect(link).query<any>({ query })).data.author.email, 'bob@example.test');
  assert.deepEqual(
    asked.map((body) => body.includes('"query"')),
    [false, true],
  );
  assert.equal((await connect(link).query<any>({ query })).data.author.email, 'bob@example.test');
  assert.deepEqual(
    asked.map((body) => body.includes('"query"')),
    [false, true, false],
  );
});

it('sends hashes by GET', async () => {
  const hashes = new PersistedQueryLink({
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    useGETForHashedQueries: true,
  });
  const { data } = await connect(ApolloLink.from([hashes, new HttpLink({ uri })])).query<any>({
    query: gql`query Named($id: ID!) { author(id: $id) { id name } }`,
    variables: { id: 'Author:1' },
  });
  assert.equal(data.author.name, 'Ada');
});

it('is told what to do when it batches and the server does not', async () => {
  const client = connect(new BatchHttpLink({ uri, batchMax: 5 }));
  const thrown: any = await Promise.all([
    client.query({ query: gql`{ tags { id } }` }),
    client.query({ query: gql`{ authors { id } }` }),
  ]).catch((error: unknown) => error);
  assert.match(`${thrown?.message} ${JSON.stringify(thrown)}`, /batch/i);
});

it('subscribes through graphql-ws with a token', async () => {
  const token = await signIn();
  const socket = createClient({
    url: uri.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { headers: { Authorization: `Bearer ${token}` } },
  });
  const client = connect(
    ApolloLink.split(
      ({ operationType }) => operationType === ('subscription' as never),
      new GraphQLWsLink(socket),
      new HttpLink({ uri }),
    ),
  );
  const titles: string[] = [];
  const subscription = client
    .subscribe<any>({ query: gql`subscription { postCreated { id title author { id name } } }` })
    .subscribe({
      next: ({ data }) => void titles.push(data.postCreated.title),
      error: (error) => assert.fail(String(error)),
    });
  await until(async () => (await createPost('warm'), titles.length > 0));
  subscription.unsubscribe();
  await socket.dispose();
  client.stop();
});

it('stops the work of a query that is no longer wanted', async () => {
  const client = connect();
  const abort = new AbortController();
  const asked = client
    .query({
      query: gql`{ slow(milliseconds: 1900) }`,
      context: { fetchOptions: { signal: abort.signal } },
    })
    .catch(() => {});
  await until(async () => (await running()) === 1);
  abort.abort();
  const since = performance.now();
  await until(async () => (await running()) === 0);
  assert.ok(performance.now() - since < 1500, 'it ran to its end');
  await asked;
});

it('knows who is signed in, and that nobody is', async () => {
  const query = gql`
    query {
      me { id email }
      viewer { __typename me { firstName } author(id: "Author:1") { id name } }
    }
  `;
  const nobody = await connect().query<any>({ query });
  assert.equal(nobody.data.me, null);
  const headers = { authorization: `Bearer ${await signIn()}` };
  const { data } = await connect(new HttpLink({ uri, headers })).query<any>({ query });
  assert.match(data.me.email, /@example.test$/);
  assert.deepEqual(data.viewer, {
    __typename: 'Query',
    me: { __typename: 'User', firstName: 'Ada' },
    author: { __typename: 'Author', id: 'Author:1', name: 'Ada' },
  });
});

const ADD = gql`
  mutation Add($name: String!, $email: String!) {
    addAuthor(name: $name, email: $email) {
      ... on Author { id name }
      ... on EmailTaken { message field }
      ... on InvalidAuthor { message fields }
    }
  }
`;

it('gets a member of a result union, and the row of it into its cache', async () => {
  const client = connect();
  const add = async (name: string, email: string) =>
    (await client.mutate<any>({ mutation: ADD, variables: { name, email } })).data.addAuthor;
  const made = await add('Cyd', `${crypto.randomUUID()}@example.test`);
  assert.deepEqual((client.cache.extract() as any)[`Author:${made.id}`], made);
  assert.deepEqual(await add('Eve', 'ada@example.test'), {
    __typename: 'EmailTaken',
    message: 'email already exists',
    field: 'email',
  });
  assert.deepEqual((await add('E', 'e@example.test')).fields, ['name']);
});

it('gets lists, members and functions of connections and payloads beside what is standard', async () => {
  const client = connect();
  const { data, error } = await client.query<any>({
    query: gql`{ posts(first: 2) { posts { id } edges { rank node { id title } } lastSyncId } }`,
    errorPolicy: 'all',
  });
  const { posts, edges, lastSyncId } = data.posts;
  assert.deepEqual(
    posts.map(({ id }: any) => id),
    edges.map(({ node }: any) => node.id),
  );
  assert.deepEqual(
    edges.map(({ rank }: any) => rank),
    edges.map(({ node }: any) => node.title.length),
  );
  assert.equal(lastSyncId, null);
  assert.ok(CombinedGraphQLErrors.is(error));
  assert.deepEqual(
    error.errors.map(({ path, extensions }) => [path?.join('.'), extensions?.['code']]),
    [['posts.lastSyncId', 'NOT_IMPLEMENTED']],
  );
  const created = await client.mutate<any>({
    mutation: gql`mutation { createPost(input: { title: "Loud", mood: WILD, authorId: "Author:2" }) { success loud query { author(id: "Author:2") { name } } } }`,
  });
  assert.deepEqual(
    [
      created.data.createPost.success,
      created.data.createPost.loud,
      created.data.createPost.query.author.name,
    ],
    [true, 'LOUD', 'Bob'],
  );
});

it('reads a 401 with its code', async () => {
  const link = new HttpLink({ uri, headers: { authorization: 'Bearer wrong' } });
  const thrown: any = await connect(link)
    .query({ query: gql`{ me { id } }` })
    .catch((error: unknown) => error);
  const errors = CombinedGraphQLErrors.is(thrown)
    ? thrown.errors
    : JSON.parse(thrown.bodyText).errors;
  assert.equal(errors[0].extensions.code, 'UNAUTHENTICATED');
});
