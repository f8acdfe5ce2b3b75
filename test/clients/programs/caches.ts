import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connect as connectApollo } from './caches/apollo/example.ts';
import { connect as connectTanstack } from './caches/tanstack/example.ts';
import { connect as connectUrql } from './caches/urql/example.ts';
import { url } from './session.ts';

/** The bodies of the requests to GraphQL, as a cache sent them. */
const sent: Record<string, unknown>[] = [];
const { fetch } = globalThis;
globalThis.fetch = (address, init) => {
  sent.push(JSON.parse(String(init?.body)));
  return fetch(address, init);
};

interface Connected {
  posts(): Promise<readonly { readonly id: string; readonly title: string }[]>;
  add(title: string): Promise<void>;
}

const CACHES: Readonly<Record<string, (url: string) => Connected>> = {
  'TanStack Query': connectTanstack,
  'Apollo Client': connectApollo,
  urql: connectUrql,
};

// The first cache starts with an empty list, which urql could not refresh by itself.
for (const [name, connect] of Object.entries(CACHES).toReversed())
  it(`${name} queries by hash, answers from its cache, and shows what a mutation made`, async () => {
    sent.length = 0;
    const { posts, add } = connect(url);
    const before = await posts();
    assert.deepEqual(await posts(), before);
    assert.equal(sent.length, 1);
    await add(name);
    const titles = (await posts()).map(({ title }) => title);
    assert.deepEqual(titles, [...before.map(({ title }) => title), name]);
    assert.deepEqual(
      sent.filter((body) => 'query' in body),
      [],
    );
  });

it('refuses the same query as text', async () => {
  const body = JSON.stringify({ query: '{ posts { id } }' });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  const { errors } = (await answer.json()) as any;
  assert.equal(errors[0].extensions.code, 'DOCUMENT_NOT_TRUSTED');
});
