import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
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
