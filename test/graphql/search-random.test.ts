import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from './harness.ts';

/** How much of it runs here; the long run sets the number. */
const SEARCHES = Number(process.env['SEARCH_RUNS'] ?? 150);
const SEED = Number(process.env['SEARCH_SEED'] ?? 1);

const SDL = `
  type Post @search(fields: ["title", "body"])
    @auth(allow: [PUBLIC], on: [READ], where: { published: true }) @auth(allow: [OWNER], owner: "author") {
    id: ID! title: String! body: String published: Boolean! author: User! rank: Float @search(as: RANK)
  }
  type User @auth(allow: [PUBLIC], on: [READ]) { id: ID! email: String! posts(search: String): [Post!]! }
  type PostConnection { nodes: [Post!]! totalCount: Int! }
  type Query { posts(search: String): [Post!]! pages(search: String, first: Int): PostConnection! @resolve(as: LIST) users: [User!]! }
`;
const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox'];

/** A generator of numbers that is the same for one seed. */
function randomOf(seed: number) {
  let state = seed * 2654435761 + 1;
  const next = () => ((state = (state * 48271 + 11) % 2147483647), Math.abs(state) / 2147483647);
  return { below: (most: number) => Math.floor(next() * most), next };
}

const random = randomOf(SEED);
const word = () => WORDS[random.below(WORDS.length)]!;
const text = (most: number) => Array.from({ length: random.below(most + 1) }, word);
const POSTS = Array.from({ length: 60 }, (_, at) => ({
  id: at + 1,
  title: text(3),
  body: text(6),
  published: random.next() < 0.6,
  author: 1 + random.below(2),
}));

interface Asked {
  readonly groups: readonly (readonly string[])[];
  readonly without: readonly string[];
}

const asked = (): Asked => ({
  groups: Array.from({ length: 1 + random.below(2) }, () => [
    word(),
    ...(random.next() < 0.3 ? [word()] : []),
  ]),
  without: random.next() < 0.3 ? [word()] : [],
});

const written = ({ groups, without }: Asked) =>
  [...groups.map((group) => group.join(' or ')), ...without.map((each) => `-${each}`)].join(' ');

/** The rows that a caller finds, and how well they fit, by looking at each row. */
function expected({ groups, without }: Asked, caller: number | null) {
  const distinct = [...new Map(groups.map((group) => [group.join(), group])).values()];
  const terms = distinct.flat();
  const weight = ({ title, body }: (typeof POSTS)[number], term: string) =>
    (title.includes(term) ? 8 : 0) + (body.includes(term) ? 4 : 0);
  return POSTS.filter(({ published, author }) => published || author === caller)
    .filter((post) => distinct.every((group) => group.some((term) => weight(post, term) > 0)))
    .filter((post) => without.every((term) => weight(post, term) === 0))
    .map((post) => ({
      id: String(post.id),
      rank: terms.reduce((all, term) => all + weight(post, term), 0) / (terms.length * 12),
    }))
    .toSorted((a, b) => b.rank - a.rank || Number(a.id) - Number(b.id));
}

describe.each(databases)('random searches under rules on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: 'name: random\nauth: {}\n' });
    for (const email of ['a@x.test', 'b@x.test'])
      await server.store.db.insertInto('users').values({ email }).execute();
    for (const { title, body, published, author } of POSTS)
      await server.store.db
        .insertInto('posts')
        .values({ title: title.join(' '), body: body.join('; '), published, author_id: author })
        .execute();
  });
  afterAll(() => server?.close());

  it(`find, count and rank the rows that an oracle finds, seed ${SEED}`, async () => {
    for (let left = SEARCHES; left > 0; left -= 1) {
      const search = asked();
      const caller = [null, 1, 2][random.below(3)]!;
      const { data, errors } = await server.query(
        'query ($s: String) { posts(search: $s) { id rank } pages(search: $s, first: 5) { totalCount nodes { id rank } } users { posts(search: $s) { id } } }',
        { s: written(search) },
        caller === null ? undefined : user(caller),
      );
      const rows = expected(search, caller);
      const ids = (of: number) =>
        rows.filter(({ id }) => POSTS[Number(id) - 1]!.author === of).map(({ id }) => ({ id }));
      expect({ search: written(search), errors, data }).toEqual({
        search: written(search),
        errors: undefined,
        data: {
          posts: rows,
          pages: { totalCount: rows.length, nodes: rows.slice(0, 5) },
          users: [{ posts: ids(1) }, { posts: ids(2) }],
        },
      });
    }
  });
});
