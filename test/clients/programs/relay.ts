import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { createClient } from 'graphql-sse';
import relay from 'relay-runtime';
import { createPost, signIn, until, url } from './session.ts';

const {
  commitMutation,
  ConnectionHandler,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getPaginationMetadata,
  getPaginationVariables,
  getRefetchMetadata,
  getSelector,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} = relay as any;

/** What the compiler made: Relay's own plugin for Babel would put it in the place of the tags. */
const load = createRequire(import.meta.url);
const artifact = (name: string) => load(`./relay/__generated__/${name}.graphql.js`);

/** The network as Relay's own guide writes it. */
function connect(token?: string): any {
  const events = createClient({ url: `${url}/graphql` });
  const ask = async ({ text: query }: { text: string }, variables: object) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query, variables }),
    });
    return response.json();
  };
  const hear = ({ text: query }: { text: string }, variables: object) =>
    Observable.create((sink: any) =>
      events.subscribe({ query, variables: variables as any }, sink),
    );
  return new Environment({
    network: Network.create(ask, hear),
    store: new Store(new RecordSource()),
  });
}

/** Keeps what a query read in the store, as a component on show does. */
async function read(environment: any, query: any, variables: object): Promise<any> {
  environment.retain(createOperationDescriptor(query, variables));
  return fetchQuery(environment, query, variables, { fetchPolicy: 'network-only' }).toPromise();
}

const look = (environment: any, fragment: any, reference: any) =>
  environment.lookup(getSelector(fragment, reference)).data;

it('pages through a connection of a node by the query that the compiler made for it', async () => {
  const environment = connect();
  const fragment = artifact('postsOfAuthor');
  const { author } = await read(environment, artifact('postsQuery'), { count: 2 });
  const {
    fragmentRefsInData: _,
    fragmentRefPathInResponse,
    refetchableRequest,
    refetchMetadata,
  } = getRefetchMetadata(fragment, 'test');
  assert.deepEqual(fragmentRefPathInResponse, ['node']);
  const { connectionPathInFragmentData, paginationRequest, paginationMetadata } =
    getPaginationMetadata(fragment, 'test');
  assert.equal(paginationRequest, refetchableRequest);
  let data = look(environment, fragment, author);
  const total = data.posts.totalCount;
  let pages = 1;
  for (; data.posts.pageInfo.hasNextPage; pages += 1) {
    const cursor = data.posts.pageInfo.endCursor;
    const variables = getPaginationVariables(
      'forward',
      2,
      cursor,
      { count: 2 },
      {},
      paginationMetadata,
    );
    await read(environment, paginationRequest, {
      ...variables,
      [refetchMetadata.identifierInfo?.identifierQueryVariableName ?? 'id']: data.id,
    });
    data = look(environment, fragment, author);
  }
  assert.deepEqual(connectionPathInFragmentData, ['posts']);
  assert.equal(pages, Math.ceil(total / 2));
  const ids = data.posts.edges.map((edge: any) => edge.node.id);
  assert.equal(ids.length, total);
  assert.equal(new Set(ids).size, total);
});

it('reads one node again by its id', async () => {
  const environment = connect();
  const { author } = await read(environment, artifact('postsQuery'), { count: 1 });
  const [{ node: post }] = look(environment, artifact('postsOfAuthor'), author).posts.edges;
  const card = artifact('postsCard');
  const { refetchableRequest } = getRefetchMetadata(card, 'test');
  const fresh = await read(environment, refetchableRequest, { id: post.id });
  assert.deepEqual(look(environment, card, fresh.node), {
    id: post.id,
    title: post.title,
    mood: 'CALM',
    tags: [],
  });
});

it('puts a new row into the connection on show, and takes a removed one out', async () => {
  const environment = connect();
  const fragment = artifact('postsOfAuthor');
  const { author } = await read(environment, artifact('postsQuery'), { count: 2 });
  const connections = [ConnectionHandler.getConnectionID('Author:1', 'postsOfAuthor_posts')];
  const commit = (mutation: any, variables: object) =>
    new Promise<any>((resolve, reject) =>
      commitMutation(environment, {
        mutation,
        variables,
        onError: reject,
        onCompleted: (done: any, errors: any) =>
          errors ? reject(new Error(JSON.stringify(errors))) : resolve(done),
      }),
    );
  const created = await commit(artifact('postsCreateMutation'), {
    connections,
    input: { title: 'By Relay', mood: 'WILD', authorId: 'Author:1', clientMutationId: 'c1' },
  });
  assert.equal(created.createPost.clientMutationId, 'c1');
  const { id } = created.createPost.post;
  assert.equal(look(environment, fragment, author).posts.edges[0].node.id, id);
  assert.equal(
    (await commit(artifact('postsDeleteMutation'), { connections, id })).deletePost.ok,
    true,
  );
  assert.notEqual(look(environment, fragment, author).posts.edges[0].node.id, id);
});

it('goes on with the data when a field of it failed', async () => {
  const { post } = await read(connect(), artifact('postsFailingQuery'), {});
  assert.deepEqual({ ...post }, { id: 'Post:2', fragile: null });
});

it('updates the store from events', async () => {
  const environment = connect();
  const seen: string[] = [];
  const { dispose } = requestSubscription(environment, {
    subscription: artifact('postsSubscription'),
    variables: {},
    onNext: ({ postChanged }: any) => void seen.push(postChanged.title),
    onError: (error: unknown) => assert.fail(String(error)),
  });
  await until(async () => (await createPost('warm'), seen.length > 0));
  dispose();
});

it('knows who is signed in, and reads fragments of the root below it', async () => {
  const query = artifact('postsCallerQuery');
  const nobody = await read(connect(), query, {});
  assert.equal(nobody.me, null);
  const environment = connect(await signIn());
  const { me, viewer } = await read(environment, query, {});
  assert.match(me.email, /@example.test$/);
  assert.equal(viewer.me.id, me.id);
  const { posts } = look(environment, artifact('postsFirst'), viewer);
  assert.equal(posts.edges[0].rank, posts.posts[0].title.length);
});

it('gets a member of a result union', async () => {
  const environment = connect();
  const add = (name: string, email: string) =>
    new Promise<any>((resolve, reject) =>
      commitMutation(environment, {
        mutation: artifact('postsAddAuthorMutation'),
        variables: { name, email },
        onError: reject,
        onCompleted: (done: any, errors: any) =>
          errors ? reject(new Error(JSON.stringify(errors))) : resolve({ ...done.addAuthor }),
      }),
    );
  assert.equal((await add('Dot', `${crypto.randomUUID()}@example.test`)).name, 'Dot');
  assert.deepEqual(await add('Eve', 'ada@example.test'), {
    __typename: 'EmailTaken',
    message: 'email already exists',
    field: 'email',
  });
  assert.deepEqual((await add('E', 'e@example.test')).fields, ['name']);
});

it('gets the errors of a 401', async () => {
  const thrown: any = await read(connect('wrong'), artifact('postsCallerQuery'), {}).catch(
    (error: unknown) => error,
  );
  assert.match(JSON.stringify(thrown.source ?? thrown.message), /UNAUTHENTICATED/);
});
