import { describe, expect, it } from 'vitest';
import { createKnown, readProject } from '../../schema/index.ts';
import type { Known, Project } from '../../schema/index.ts';

const USER =
  'type User {\n  id: ID!\n  email: String! @unique\n  name: String! @constraint(minLength: 1)\n  posts: [Post!]!\n}\n';
const POST = 'type Post {\n  id: ID!\n  title: String!\n  author: User!\n}\n';
const QUERY = 'type Query {\n  users: [User!]!\n  posts: [Post!]!\n}\n';

describe('a model that is read again', () => {
  it('is made of the very parts of the last one where nothing changed', () => {
    const known = createKnown();
    const before = read(known, USER + POST + QUERY);
    const after = read(known, `# a comment\n${USER}${POST}${QUERY}`);
    expect(after.entities).toBe(before.entities);
    expect(after.operations).toBe(before.operations);
    expect(after.api).toBe(before.api);
  });

  it('has a new part for each that changed, however little, and keeps the others', () => {
    for (const [from, to] of [
      ['minLength: 1', 'minLength: 2'],
      ['title: String!', 'title: String'],
      ['title: String!', '"Said."\n  title: String!'],
      ['id: ID!\n  title: String!', 'title: String!\n  id: ID!'],
    ] as const) {
      const known = createKnown();
      const before = read(known, USER + POST + QUERY);
      const after = read(known, (USER + POST + QUERY).replace(from, to));
      const changed = from.startsWith('minLength') ? 'User' : 'Post';
      expect([
        from,
        after.entities
          .filter((entity, at) => entity !== before.entities[at])
          .map(({ name }) => name),
      ]).toEqual([from, [changed]]);
      expect(after.operations).toBe(before.operations);
    }
  });

  it('keeps parts that moved, came before others or lost a neighbour', () => {
    const known = createKnown();
    const [user, post] = read(known, USER + POST + QUERY).entities;
    expect(
      read(known, POST + USER + QUERY).entities.toSorted((a, b) => (a.name < b.name ? 1 : -1)),
    ).toEqual([user, post]);
    const third = read(known, `type Tag {\n  id: ID!\n}\n${POST}${USER}${QUERY}`).entities;
    expect(third.find(({ name }) => name === 'User')).toBe(user);
    expect(third.find(({ name }) => name === 'Post')).toBe(post);
  });

  it('takes settings in another order for other ones, since they are printed in that order', () => {
    const known = createKnown();
    const limits = (...routes: string[]) =>
      `auth: { routes: { ${routes.map((route) => `"${route}": { limit: 5/1m }`).join(', ')} } }`;
    const first = read(known, USER + POST + QUERY, limits('GET /a', 'GET /b'));
    const second = read(known, USER + POST + QUERY, limits('GET /b', 'GET /a'));
    expect(JSON.stringify(second)).toBe(
      JSON.stringify(read(createKnown(), USER + POST + QUERY, limits('GET /b', 'GET /a'))),
    );
    expect(second.entities).toBe(first.entities);
  });

  it('is the very one of the last time when nothing that it is read from has changed', () => {
    const known = createKnown();
    const again = (text: string, settings = '', scalars?: { Money: 'decimal' }) =>
      readProject({ ...input(text, settings), ...(scalars && { scalars }), known });
    const texts = USER + POST + QUERY;
    for (const other of [
      () => again(`${texts}# a comment\n`),
      () => again(texts, 'api: { rest: true }'),
      () => again(texts, '', { Money: 'decimal' }),
    ]) {
      const reading = again(texts);
      expect(again(texts)).toBe(reading);
      expect(other()).not.toBe(reading);
      expect(JSON.stringify(again(texts))).toBe(JSON.stringify(reading));
    }
  });

  it('outlives a schema with mistakes', () => {
    const known = createKnown();
    const before = read(known, USER + POST + QUERY);
    expect(
      readProject({ ...input('type Query {\n  a: Missing\n}\n', ''), known }).project,
    ).toBeNull();
    expect(read(known, USER + POST + QUERY).entities).toBe(before.entities);
  });
});

function input(text: string, settings: string) {
  return {
    schema: [{ file: 'schema.graphql', text }],
    manifest: { file: 'manifest.yaml', text: `name: shop\n${settings}\n` },
  };
}

function read(known: Known, text: string, settings = ''): Project {
  const { project, diagnostics } = readProject({ ...input(text, settings), known });
  if (!project) throw new TypeError(JSON.stringify(diagnostics));
  return project;
}
