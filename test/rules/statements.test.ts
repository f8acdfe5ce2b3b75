import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { insert } from './project.ts';
import { person } from './random-conditions.ts';

const RULE =
  '@auth(allow: [USER], where: { project: { members: { some: { user: CALLER, role: EDITOR } } } })';
const SDL = `
  enum Role { EDITOR VIEWER }
  type User { id: ID! email: String! }
  type Project @auth(allow: [PUBLIC]) { id: ID! members: [Member!]! }
  type Kept @entity(softDelete: true) @auth(allow: [PUBLIC]) { id: ID! guests: [Guest!]! }
  type Member @auth(allow: [PUBLIC]) { id: ID! project: Project! user: User! role: Role! }
  type Guest @auth(allow: [PUBLIC]) { id: ID! kept: Kept user: User! }
  type Task ${RULE} { id: ID! project: Project }
  type Note @auth(allow: [OWNER], owner: "kept.guests.user") { id: ID! kept: Kept }
  type Query { tasks: [Task!]! notes: [Note!]! }
`;

const PARTLY = `
  type User { id: ID! email: String! rank: Int clubs: [Club!]! }
  type Project @auth(allow: [PUBLIC]) { id: ID! size: Int members: [Member!]! }
  type Member @auth(allow: [PUBLIC]) { id: ID! project: Project! user: User! }
  type Card @auth(allow: [USER], on: [READ], where: { project: { members: { some: { user: CALLER } }, size: { ne: 2 } } }) { id: ID! project: Project }
  type Club @auth(allow: [USER], on: [READ], where: { fans: { some: { id: CALLER, rank: { ne: 1 } } } }) { id: ID! fans: [User!]! }
  type Query { cards: [Card!]! clubs: [Club!]! }
`;

describe.each(databases)('a rule that compares a key and another column on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(PARTLY, { database, manifest: 'name: partly\nauth: {}\n' });
    await insert(server.store, {
      users: [
        { email: 'u1@x.org', rank: 2 },
        { email: 'u2@x.org', rank: 1 },
      ],
      projects: [{ size: 2 }, { size: 1 }],
      members: [
        { project_id: 1, user_id: 1 },
        { project_id: 2, user_id: 1 },
      ],
      cards: [{ project_id: 1 }, { project_id: 2 }],
      clubs: [{ id: 1 }, { id: 2 }],
      club_fans: [
        { club_id: 1, user_id: 1 },
        { club_id: 2, user_id: 2 },
      ],
    });
  });
  afterAll(() => server.close());

  const seen = async (field: string, id: number) => {
    const { data } = await server.query(`{ ${field} { id } }`, {}, person(id, {}));
    return data[field].map((row: { id: string }) => row.id);
  };

  it('reads the row that the key leads to', async () => {
    expect(await seen('cards', 1)).toEqual(['2']);
    expect(await seen('clubs', 1)).toEqual(['1']);
    expect(await seen('clubs', 2)).toEqual([]);
  });
});

describe.each(databases)('graphql-2 §3: the statement of a rule on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: 'name: gate\nauth: {}\n' });
    const add = (table: string, row: Record<string, unknown>) =>
      server.store.db.insertInto(table).values(row).execute();
    for (const id of [1, 2]) {
      await add('users', { email: `u${id}@x.org` });
      await add('projects', { id });
      await add('kepts', { id, deleted_at: id === 2 ? '2026-01-01T00:00:00.000Z' : null });
      await add('members', { project_id: id, user_id: id, role: 'EDITOR' });
      await add('guests', { kept_id: id, user_id: 1 });
      await add('tasks', { project_id: id });
      await add('notes', { kept_id: id });
    }
    await add('tasks', { project_id: null });
  });
  afterAll(() => server.close());

  const asked = async (text: string, id: number) => {
    server.statements();
    const { data } = await server.query(text, {}, person(id, {}));
    return { data, statement: server.statements().join('\n') };
  };

  it('leaves out a table that only leads on to the next one', async () => {
    const { data, statement } = await asked('{ tasks { id } }', 2);
    expect(data.tasks).toEqual([{ id: '2' }]);
    expect(statement).toContain('"members"');
    expect(statement).not.toContain('"projects"');
  });

  it('reads a table on the way whose rows may be removed softly', async () => {
    const { data, statement } = await asked('{ notes { id } }', 1);
    expect(data.notes).toEqual([{ id: '1' }]);
    expect(statement).toContain('"kepts"');
  });
});
