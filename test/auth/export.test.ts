import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { read } from '../docs/world.ts';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  SECRET,
  startServer,
  type TestServer,
} from './harness.ts';

const SDL = `
type User { id: ID! name: String! email: String! posts: [Post!]! }
type Post @auth(allow: [USER], on: [READ]) @auth(allow: [OWNER], owner: "author", on: [UPDATE, DELETE]) {
  id: ID! title: String! author: User! hidden: String @auth(allow: [ROLE], roles: ["Owner"])
}
type Diary @auth(allow: [OWNER], owner: "writer") { id: ID! text: String! writer: User! }
type Note @auth(allow: [ROLE], roles: ["Owner"]) { id: ID! about: User! text: String! }
type File @auth(allow: [ROLE], roles: ["Owner"], on: [READ]) @auth(allow: [OWNER], owner: "by", on: [UPDATE]) { id: ID! by: User! text: String! }
type Query { users: [User!]! posts: [Post!]! diaries: [Diary!]! notes: [Note!]! files: [File!]! }
`;
const ROLES = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
const project = read(
  SDL,
  'name: shop\nauth: { roles: { list: [Owner, Member], default: Member, first: Owner } }\n',
).project!;

describeEachDatabase('auth-2 §8 the export', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    const [entity, ...more] = project.entities;
    server = await startServer({ database, entity: entity!, more, auth: { roles: ROLES } });
  });
  afterAll(() => server.close());

  const rows = (table: string, values: readonly object[]) =>
    server.kernel.store.db.insertInto(table).values(values).execute();

  it("has everything about the user and the rows that are theirs, no secret and nothing of another's", async () => {
    const ann = (await server.register('ann@x.test', { first_name: 'Ann' })).body;
    const bob = (await server.register('bob@x.test')).body;
    await server.login('ann@x.test', 'wrong');
    const headers = bearer(ann.accessToken);
    const made = { name: 'nightly', scopes: [] };
    const { key } = (await server.call('POST', '/api/auth/api-keys', made, headers)).body;
    await rows('posts', [
      { title: 'of Ann', author_id: ann.id, hidden: 'for the staff' },
      { title: 'of Bob', author_id: bob.id, hidden: null },
    ]);
    await rows('diaries', [
      { text: 'dear diary', writer_id: ann.id },
      { text: 'of Bob', writer_id: bob.id },
    ]);
    await rows('notes', [{ about_id: ann.id, text: 'staff only' }]);
    await rows('files', [{ by_id: ann.id, text: 'not readable' }]);
    const {
      status,
      body,
      text,
      headers: answered,
    } = await server.call('GET', '/api/auth/me/export', undefined, headers);
    expect(status).toBe(200);
    expect(answered.get('Content-Type')).toMatch(/^application\/json/);
    expect(answered.get('Content-Disposition')).toBe(
      `attachment; filename="account-${ann.id}.json"`,
    );
    expect(Object.keys(body.data).sort()).toEqual(['Diary', 'Post', 'User']);
    expect(body.data).toEqual({
      User: [{ id: ann.id, name: 'Ann', email: 'ann@x.test' }],
      Post: [{ id: expect.anything(), title: 'of Ann', author: { id: ann.id } }],
      Diary: [{ id: expect.anything(), text: 'dear diary', writer: { id: ann.id } }],
    });
    expect(body).toMatchObject({
      me: { id: ann.id, email: 'ann@x.test', locale: '' },
      security: { sessions: 1, api_keys: 1 },
      sessions: [{ current: true }],
      api_keys: [{ name: 'nightly' }],
      identities: [],
    });
    expect(body.attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'success',
      'failure',
    ]);
    expect(body.events.map(({ type }: { type: string }) => type)).toContain('api_key.created');
    const stored = JSON.stringify([
      (await server.rows('auth_users')).map(({ password }) => password),
      (await server.rows('auth_sessions')).map(({ salt }) => salt),
      (await server.rows('auth_api_keys')).map(({ hash }) => hash),
    ]).split('"');
    const secrets = [
      GOOD,
      SECRET,
      ann.accessToken,
      ann.refreshToken,
      key,
      ...stored.filter((it) => it.length > 20),
    ];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/bob@x\.test|of Bob|staff/);
  });

  it('is sent while it is read: a slow client holds a batch in memory, not a hundred thousand rows', async () => {
    const cy = (await server.register('cy@x.test')).body;
    const long = 'x'.repeat(500);
    for (let index = 0; index < 40; index += 1)
      await rows(
        'posts',
        Array.from({ length: 500 }, (_, each) => ({
          title: `${index}/${each} ${long}`,
          author_id: cy.id,
        })),
      );
    const before = process.memoryUsage().rss;
    let [size, most] = [0, 0];
    const text = await new Promise<string>((resolve, reject) => {
      const parts: Buffer[] = [];
      get(`${server.url}/api/auth/me/export`, { headers: bearer(cy.accessToken) }, (response) => {
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (parts.length < 5) most = Math.max(most, response.socket.bytesRead);
          parts.push(chunk);
          response.pause();
          setTimeout(() => response.resume(), parts.length < 5 ? 50 : 0);
        });
        response.on('end', () => resolve(Buffer.concat(parts).toString()));
        response.on('error', reject);
      });
    });
    expect(JSON.parse(text).data.Post).toHaveLength(20_000);
    expect(size).toBeGreaterThan(10_000_000);
    // After the first five pauses the server has not sent it all: it waits for the client.
    expect(most).toBeLessThan(size / 2);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('a client that goes away ends the reading, and four at once are the most', async () => {
    const { accessToken } = (await server.login('cy@x.test')).body;
    const begin = () =>
      new Promise<{ status: number; stop(): void }>((resolve) => {
        const request = get(
          `${server.url}/api/auth/me/export`,
          { headers: bearer(accessToken), agent: false },
          (response) => {
            response.pause();
            resolve({ status: response.statusCode!, stop: () => request.destroy() });
          },
        );
        request.on('error', () => {});
      });
    const open = [await begin(), await begin(), await begin(), await begin()];
    const fifth = await begin();
    expect([...open.map(({ status }) => status), fifth.status]).toEqual([200, 200, 200, 200, 503]);
    for (const { stop } of [...open, fifth]) stop();
    await expect
      .poll(async () => {
        const next = await begin();
        next.stop();
        return next.status;
      })
      .toBe(200);
  });
});
