import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { GATE } from './project.ts';

/** A signed-in user with the values of their token. */
const person = (id: number, extend: Record<string, unknown> = {}): Principal => ({
  kind: 'user',
  id,
  role: null,
  permissions: [],
  sessionId: 's',
  extend,
});
const NOBODY: Principal = { kind: 'anonymous' };

describe.each(databases)('graphql-2 §3: rules by where, claims and paths on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(GATE.sdl, { database, manifest: GATE.manifest });
    await GATE.fill(server.store);
  });
  afterAll(() => server.close());

  const ask = (text: string, as: Principal = NOBODY) => server.query(text, {}, as);
  const titles = async (as: Principal) =>
    (await ask('{ tasks { title } }', as)).data.tasks.map((row: any) => row.title);

  it('a row is read by its owner over one relation, by members and by nobody else', async () => {
    expect(await titles(person(1))).toEqual(['a1', 'a2', 'open']);
    expect(await titles(person(2))).toEqual(['a1', 'a2', 'b1', 'open']);
    expect(await titles(person(3))).toEqual(['b1', 'open']);
    expect(await titles(NOBODY)).toEqual(['open']);
  });

  it('no path shows, counts or finds a row that the caller may not read', async () => {
    const { data } = await ask(
      `{ byId: task(id: 3) { title } connection: allTasks { totalCount nodes { title } }
         projects { name tasks { title } taskCount hasTasks }
         some: projects(where: { tasks: { some: { title: { startsWith: "b" } } } }) { name }
         none: projects(where: { tasks: { none: { title: { startsWith: "b" } } } }) { name } }`,
      person(1),
    );
    expect(data).toEqual({
      byId: null,
      connection: {
        totalCount: 3,
        nodes: [{ title: 'a1' }, { title: 'a2' }, { title: 'open' }],
      },
      projects: [
        { name: 'A', tasks: [{ title: 'a1' }, { title: 'a2' }], taskCount: 2, hasTasks: true },
        { name: 'B', tasks: [], taskCount: 0, hasTasks: false },
        { name: 'C', tasks: [{ title: 'open' }], taskCount: 1, hasTasks: true },
      ],
      some: [],
      none: [{ name: 'A' }, { name: 'B' }, { name: 'C' }],
    });
  });

  it('it is one statement, and no second one', async () => {
    server.statements();
    await ask('{ tasks { title project { name tasks { title } } } }', person(2));
    expect(server.statements()).toHaveLength(1);
  });

  const docs = async (as: Principal) =>
    (await ask('{ docs { name } }', as)).data?.docs.map((row: any) => row.name);

  it('a claim of the token is compared, and a list of values means any of them', async () => {
    expect(await docs(person(1, { company: { id: 1 } }))).toEqual(['one']);
    expect(await docs(person(1, { company: { id: '2' } }))).toEqual(['two']);
    expect(await docs(person(1, { company: { id: [1, 2] } }))).toEqual(['one', 'two']);
    expect(await docs(person(1, { company: { id: [] } }))).toEqual([]);
  });

  it.each([
    ['absent', {}],
    ['null', { company: { id: null } }],
    ['an object', { company: { id: {} } }],
    ['of another type', { company: { id: 'x' } }],
    ['a list with null', { company: { id: [1, null] } }],
    ['inherited', { company: [] }],
  ])('a claim that is %s makes the whole where false, also below a not', async (_, extend) => {
    expect(await docs(person(1, extend))).toBeUndefined();
    const { errors } = await ask('{ secrets { name } }', person(1, extend));
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('below a not, a claim that is there closes what equals it', async () => {
    const names = async (extend: Record<string, unknown>) =>
      (await ask('{ secrets { name } }', person(1, extend))).data.secrets.map(
        (row: any) => row.name,
      );
    expect(await names({ company: { id: 1 } })).toEqual(['two', 'none']);
    expect(await names({ company: { id: [1, 2] } })).toEqual(['none']);
  });

  it('CALLER with nobody signed in makes the whole where false, also below a not', async () => {
    const { errors } = await ask('{ others { name } }');
    expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect((await ask('{ others { name } }', person(1))).data.others).toEqual([{ name: 'theirs' }]);
  });
});
