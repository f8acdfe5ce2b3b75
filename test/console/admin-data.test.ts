import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { GOOD, OPERATOR, startConsole, type ConsoleServer } from './server.ts';

const SDL = `
  scalar DateTime
  scalar JSON
  scalar Long
  scalar Byte
  enum State { DRAFT SHOWN }
  type Address { street: String! zip: String }
  type User { id: ID! name: String! email: String! @unique }
  type Author { id: ID! name: String! @constraint(maxLength: 20) address: Address books: [Book!]! }
  type Leaf { id: ID! text: String! revision: Int! @version }
  type Tree { id: ID! leaves: Int! @default(value: 0) }
  type Book @auth(allow: [ROLE], roles: ["Nobody"]) { id: ID! title: String! @unique state: State! @default(value: DRAFT) pages: Int big: Long sold: DateTime meta: JSON secret: String @auth(allow: [ROLE], roles: ["Nobody"]) author: Author tags: [Tag!]! createdAt: DateTime }
  type Tag { id: ID! name: String! cover: Byte }
  union Subject = Author | Tag
  type Note { id: ID! text: String! subject: Subject }
  type Query { authors: [Author!]! }
`;
const MANIFEST = `
name: shop
api: { rest: true }
auth: { roles: { list: [Owner, Support, Member, Nobody], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["data:read"] } }
`;

/** Reads a number, waits until others have read it too, and writes one more. */
async function count({ ctx }: any) {
  const tree = await ctx.data.tree.findFirst();
  await pause(5);
  if (tree)
    await ctx.data.tree.update({ where: { id: tree.id }, data: { leaves: tree.leaves + 1 } });
}

describe.each(databases)('/api/data on %s', (database) => {
  let server: ConsoleServer;
  let own: TestDatabase;
  let host: Record<string, string>;
  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    server.call(method, path, body, { ...host, ...headers });
  beforeAll(async () => {
    own =
      database === 'postgres' ? await createDatabase() : { url: ':memory:', drop: async () => {} };
    server = await startConsole({
      sdl: SDL,
      manifest: MANIFEST,
      env: { DATABASE_URL: own.url },
      entityHooks: { Leaf: { afterOperation: { create: count } } },
    });
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    host = { Authorization: `Bearer ${body.token}` };
    await call('POST', '/api/data/authors', { name: 'Ada', address: { street: 'Main 1' } });
    await call('POST', '/api/data/tags', { name: 'new', cover: 'AAEC' });
    await call('POST', '/api/data/notes', { text: 'one', subjectType: 'Author', subjectId: '1' });
  });
  afterAll(async () => {
    await server?.close();
    await own?.drop();
  });

  it('lists every type with its path and how many rows it has', async () => {
    const { status, body } = await call('GET', '/api/data');
    expect(status).toBe(200);
    expect(body.types).toContainEqual({ name: 'Author', path: '/api/data/authors', total: 1 });
    expect(body.types.map(({ name }: { name: string }) => name).sort()).toEqual(
      ['Author', 'Book', 'Leaf', 'Note', 'Tag', 'Tree', 'User'].sort(),
    );
  });

  it('counts versions, and refuses a write or a delete of an older one', async () => {
    const path = '/api/data/leaves/1';
    const made = await call('POST', '/api/data/leaves', { text: 'a' });
    expect(made.body).toMatchObject({ id: '1', revision: 1 });
    expect((await call('POST', '/api/data/leaves', { text: 'a', revision: 5 })).status).toBe(400);
    expect((await call('PATCH', path, { text: 'b' })).body.revision).toBe(2);
    expect((await call('PATCH', path, { text: 'c', revision: 2 })).body.revision).toBe(3);
    expect((await call('PATCH', path, { text: 'd', revision: 2 })).status).toBe(409);
    expect((await call('DELETE', `${path}?revision=2`)).status).toBe(409);
    expect((await call('GET', path)).body).toMatchObject({ text: 'c', revision: 3 });
    expect((await call('DELETE', `${path}?revision=3`)).status).toBe(204);
  });

  it('runs hooks again that lose to others', async () => {
    await call('POST', '/api/data/trees', {});
    const made = Array.from({ length: 10 }, () => call('POST', '/api/data/leaves', { text: 'a' }));
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual(made.map(() => 201));
    expect((await call('GET', '/api/data/trees/1')).body.leaves).toBe(10);
  });

  it('reads and writes what the schema does not offer, past its rules', async () => {
    const book = {
      title: 'Notes',
      pages: 3,
      big: '9007199254740993',
      sold: '2026-01-02T03:04:05.000Z',
      meta: { a: [1, null] },
      secret: 'hidden',
      authorId: '1',
      tagIds: ['1'],
    };
    const made = await call('POST', '/api/data/books', book);
    expect([made.status, made.headers.get('Location')]).toEqual([201, '/api/data/books/1']);
    const { tagIds: _, ...shown } = book;
    expect(made.text).toContain('9007199254740993');
    expect(made.body).toMatchObject({ ...shown, big: expect.anything(), id: '1', state: 'DRAFT' });
    const one = await call('GET', '/api/data/books/1?include=author,tags');
    expect(one.body).toMatchObject({
      secret: 'hidden',
      author: { name: 'Ada' },
      tags: [{ cover: 'AAEC' }],
    });
    const changed = await call('PATCH', '/api/data/books/1', { pages: 4, meta: null });
    expect([changed.status, changed.body.pages, changed.body.meta]).toEqual([200, 4, null]);
    const listed = await call('GET', '/api/data/books?title_contains=ote&sort=pages&order=desc');
    expect(listed.body.pagination.total).toBe(1);
    expect((await server.call('GET', '/api/books', undefined, host)).status).toBe(404);
  });

  it('has ETag and If-Match', async () => {
    const tag = (await call('GET', '/api/data/authors/1')).headers.get('ETag')!;
    const same = await call('GET', '/api/data/authors/1', undefined, { 'If-None-Match': tag });
    expect(same.status).toBe(304);
    const put = await call('PUT', '/api/data/authors/1', { name: 'Eve' }, { 'If-Match': tag });
    expect(put.status).toBe(200);
    const late = await call('PATCH', '/api/data/authors/1', { name: 'Bob' }, { 'If-Match': tag });
    expect(late.status).toBe(412);
  });

  it('holds checks, constraints and foreign keys', async () => {
    const long = await call('PATCH', '/api/data/authors/1', { name: 'x'.repeat(30) });
    expect([long.status, long.body.error]).toEqual([400, expect.stringMatching(/name/)]);
    const twice = await call('POST', '/api/data/books', { title: 'Notes' });
    expect(twice.status).toBe(409);
    const lost = await call('POST', '/api/data/books', { title: 'Lost', authorId: '99' });
    expect(lost.status).toBe(422);
    expect((await call('POST', '/api/data/books', {})).body).toEqual({
      error: 'title is required',
    });
    expect((await call('PATCH', '/api/data/books/1', { title: 3 })).status).toBe(400);
    expect((await call('GET', '/api/data/books?nope=1')).status).toBe(400);
    expect((await call('GET', '/api/data/books/x')).status).toBe(400);
    expect((await call('GET', '/api/data/books/99')).body).toEqual({ error: 'Book not found' });
  });

  it('shows and sets the columns of a reference to several types', async () => {
    const note = { id: '1', text: 'one', subjectType: 'Author', subjectId: '1' };
    expect((await call('GET', '/api/data/notes/1')).body).toEqual(note);
    const tagged = await call('PATCH', '/api/data/notes/1?include=subject', { subjectType: 'Tag' });
    expect(tagged.body.subject).toMatchObject({ name: 'new' });
  });

  it('writes no column that signs a user in, and has no credential', async () => {
    const { body } = await server.call('POST', '/api/auth/register', {
      email: 'eve@x.test',
      password: GOOD,
      name: 'Eve',
    });
    const path = `/api/data/users/${body.user?.id ?? body.id}`;
    const row = await call('GET', path);
    expect(Object.keys(row.body).sort()).toEqual(['email', 'id', 'name']);
    const taken = await call('PATCH', path, { email: 'mallory@x.test' });
    expect([taken.status, taken.body.error]).toEqual([400, expect.stringMatching(/email/)]);
    expect((await call('PATCH', path, { name: 'Eva' })).body.name).toBe('Eva');
    const made = await call('POST', '/api/data/users', { name: 'x', email: 'x@x.test' });
    expect([made.status, made.body.error]).toEqual([400, expect.stringMatching(/register/)]);
  });

  it('is in the audit: writes with the names of their fields, reads once a minute for each type', async () => {
    await call('PATCH', '/api/data/tags/1', { name: 'newer' });
    await call('GET', '/api/data/tags');
    await call('GET', '/api/data/tags/1');
    const { body } = await call('GET', '/api/system/audit?target=tags*');
    const entries = body.entries.map(({ action, target, actor, detail }: any) => [
      ...[action, target, actor],
      detail.fields,
    ]);
    expect(entries.filter(([action]: string[]) => action === 'readRowsAsAdmin')).toHaveLength(1);
    expect(entries).toContainEqual(['updateTagAsAdmin', 'tags:1', 'host', ['name']]);
    expect(entries).toContainEqual(['createTagAsAdmin', 'tags:1', 'host', ['name', 'cover']]);
    const refused = await call('POST', '/api/data/tags', { name: null });
    expect(refused.status).toBe(400);
    const after = await call('GET', '/api/system/audit?target=tags*');
    expect(after.body.entries).toHaveLength(body.entries.length);
  });

  it('is for the permissions data:read and data:write alone', async () => {
    expect((await server.call('GET', '/api/data')).status).toBe(401);
    expect((await server.call('GET', '/api/data/books')).status).toBe(401);
    const { body } = await server.call('POST', '/api/auth/login', {
      email: 'eve@x.test',
      password: GOOD,
    });
    const as = { Authorization: `Bearer ${body.accessToken}` };
    for (const path of ['/api/data', '/api/data/books', '/api/data/books/1'])
      expect([path, (await server.call('GET', path, undefined, as)).status]).toEqual([path, 403]);
    expect((await server.call('DELETE', '/api/data/books/1', undefined, as)).status).toBe(403);
  });

  it('sends every row as CSV and as lines of JSON', async () => {
    for (const name of ['=1+1', '-2', 'a "b", c', ''])
      await call('POST', '/api/data/tags', { name });
    const csv = await call('GET', '/api/data/tags?fields=name&id_gt=1', undefined, {
      Accept: 'text/csv',
    });
    expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(csv.text).toBe('id,name\r\n2,\'=1+1\r\n3,\'-2\r\n4,"a ""b"", c"\r\n5,""\r\n');
    const lines = await call('GET', '/api/data/tags?sort=name&order=desc', undefined, {
      Accept: 'application/x-ndjson',
    });
    const page = await call('GET', '/api/data/tags?sort=name&order=desc');
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(page.body.data);
    const paged = await call('GET', '/api/data/tags?page=2', undefined, { Accept: 'text/csv' });
    expect(paged.status).toBe(400);
  });

  it('stands in the document with what it takes, and removes rows', async () => {
    const { body } = await call('GET', '/api/openapi.json');
    expect(Object.keys(body.paths['/api/data/books/{id}']).sort()).toEqual([
      'delete',
      'get',
      'patch',
      'put',
    ]);
    expect(body.paths['/api/data/users'].post).toBe(undefined);
    expect(body.paths['/api/data/authors/{id}'].delete['x-references']).toEqual([
      { type: 'Book', field: 'authorId', onDelete: 'set null' },
    ]);
    expect((await call('DELETE', '/api/data/books/1')).status).toBe(204);
    expect((await call('GET', '/api/data/books/1')).status).toBe(404);
  });
});
