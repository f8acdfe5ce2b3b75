import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { databases, founder, joins, startFirm, type Firm } from '../auth/organizations-server.ts';

type Founder = Awaited<ReturnType<typeof founder>>;

/** Fills an organization with two projects and their tasks. */
async function fill(firm: Firm, by: Founder, word: string): Promise<void> {
  for (const number of [1, 2]) {
    const { data } = await firm.ask(
      `mutation { createProject(input: { title: "${word} ${number}", tasks: { create: [{ text: "${word} task ${number}" }] } }) { id company { id } } }`,
      by,
    );
    expect(data.createProject.company.id).toBe(String(by.company));
  }
}

const RELATED = '{ title company { name members { name } } tasks { text } }';
const READS = [
  ...[1, 2, 3, 4, 99].flatMap((id) => [
    `{ company(id: ${id}) { name projects(limit: 9) { title } members { name } } }`,
    `{ project(id: ${id}) ${RELATED} }`,
    `{ task(id: ${id}) { text project { title company { name } } } }`,
    `{ user(id: ${id}) { name companies { name } } }`,
  ]),
  `{ companies { name projects(limit: 9) ${RELATED} } }`,
  `{ projects(limit: 9) ${RELATED} tasks { text project { title } } users { name } }`,
  '{ projects(limit: 1, offset: 2) { title } }',
  '{ projects(title: "theirs 1") { id } }',
  '{ projects(where: { company: { name: { contains: "firm" } } }) { title } }',
  '{ projects(where: { tasks: { some: { text: { contains: "task" } } } }) { title } }',
  '{ projects(where: { tasks: { none: { text: { contains: "ours" } } } }) { title } }',
  '{ tasks(where: { project: { company: { name: { contains: "s" } } } }) { text } }',
];
/** Of rows 3 and 4, which are another organization's or never were. */
const WRITES = [
  'mutation { updateProject(id: 3, title: "x") { id } }',
  'mutation { deleteProject(id: 3) }',
  'mutation { updateTask(id: 3, text: "x") { id } }',
  'mutation { deleteTask(id: 3) }',
  'mutation { updateCompany(id: 2, name: "x") { id } }',
  'mutation { deleteCompany(id: 2) }',
  'mutation { createProject(input: { title: "in", companyId: 2 }) { id } }',
  'mutation { createTask(text: "in", projectId: 3) { id } }',
  'mutation { createProject(input: { title: "in", tasks: { connect: [{ id: 3 }] } }) { id } }',
  'mutation { updateProject(id: 1, companyId: 2) { id } }',
  'mutation { updateTask(id: 1, projectId: 3) { id } }',
];
const REST = [
  'projects',
  'projects/1',
  'projects/3',
  'tasks',
  'tasks/3',
  'companies',
  'companies/2',
  'users',
  'users/2',
];

describe.each(databases)('two organizations on %s', (database) => {
  const firms: Firm[] = [];
  afterEach(async () => {
    for (const firm of firms.splice(0)) await firm.close();
  });
  const start = async () => {
    const firm = await startFirm(database);
    firms.push(firm);
    return firm;
  };
  const answers = async (firm: Firm, by: Founder) => {
    const found: Record<string, unknown> = {};
    for (const query of [...READS, ...WRITES]) found[query] = await firm.ask(query, by);
    for (const path of REST) {
      const { status, body } = await firm.call('GET', `/api/${path}`, undefined, by.headers);
      found[path] = [status, body];
    }
    return JSON.parse(JSON.stringify(found, (key, value) => (key === 'requestId' ? '' : value)));
  };

  it(
    'answer each as a server that has only that one, on every path',
    { timeout: 60_000 },
    async () => {
      const [both, one] = [await start(), await start()];
      const ann = await founder(both, 'ann');
      await fill(both, ann, 'ours');
      const bob = await founder(both, 'bob');
      await fill(both, bob, 'theirs');
      const alone = await founder(one, 'ann');
      await fill(one, alone, 'ours');
      expect(await answers(both, ann)).toEqual(await answers(one, alone));
      expect(
        (await both.ask('{ projects(limit: 9) { title tasks { text } } }', bob)).data.projects,
      ).toEqual(
        [1, 2].map((number) => ({
          title: `theirs ${number}`,
          tasks: [{ text: `theirs task ${number}` }],
        })),
      );
    },
  );

  it('are both read by who belongs to both, or one by its header, and nothing after leaving', async () => {
    const firm = await start();
    const [ann, bob] = [await founder(firm, 'ann'), await founder(firm, 'bob')];
    await fill(firm, ann, 'ann');
    await fill(firm, bob, 'bob');
    const cid = await firm.person('cid');
    await joins(firm, ann, cid);
    await joins(firm, bob, cid);
    const titles = async (headers = {}) => {
      const { data, error } = await firm.ask('{ projects(limit: 9) { title } }', cid, headers);
      return data?.projects.map(({ title }: { title: string }) => title) ?? error;
    };
    expect(await titles()).toEqual(['ann 1', 'ann 2', 'bob 1', 'bob 2']);
    const inBob = { 'X-Organization': String(bob.company) };
    expect(await titles(inBob)).toEqual(['bob 1', 'bob 2']);
    const create = 'mutation { createProject(input: { title: "new" }) { company { name } } }';
    expect((await firm.ask(create, cid)).errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', field: 'companyId' } },
    ]);
    expect((await firm.ask(create, cid, inBob)).data.createProject.company.name).toBe('bobs firm');
    expect((await firm.ask('mutation { deleteProject(id: 1) }', cid)).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ]);
    const other = await firm.call(
      'POST',
      '/graphql',
      { query: '{ projects { id } }' },
      { ...ann.headers, ...inBob },
    );
    expect(other.status).toBe(403);

    const client = createClient({
      url: `${firm.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: cid.headers['Authorization'] },
      retryAttempts: 0,
    });
    const events = client.iterate<any>({ query: 'subscription { projectChanged { title } }' });
    const next = events.next();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await firm.ask('mutation { updateProject(id: 1, title: "seen") { id } }', ann);
    expect((await next).value?.data).toEqual({ projectChanged: { title: 'seen' } });
    const later = events.next();
    const left = await firm.call(
      'DELETE',
      `/api/auth/organizations/${ann.company}/members/${cid.id}`,
      undefined,
      cid.headers,
    );
    expect(left.status).toBe(204);
    expect(await titles()).toEqual(['bob 1', 'bob 2', 'new']);
    await firm.ask('mutation { updateProject(id: 1, title: "hidden") { id } }', ann);
    await firm.ask('mutation { updateProject(id: 3, title: "still") { id } }', bob);
    expect((await later).value?.data).toEqual({ projectChanged: { title: 'still' } });
    await client.dispose();
  });

  it("are reached by keys: a user's in theirs, a bound one in that one, another in none", async () => {
    const firm = await start();
    const [ann, bob] = [await founder(firm, 'ann'), await founder(firm, 'bob')];
    await fill(firm, ann, 'ann');
    await fill(firm, bob, 'bob');
    const key = async (more: object) => {
      const body = { name: 'k', scopes: ['projects:read'], ...more };
      const root = { 'X-API-Key': 'k'.repeat(43) };
      const made = await firm.call('POST', '/api/auth/admin/api-keys', body, root);
      return { 'X-API-Key': made.body.key as string };
    };
    const titles = async (headers: Record<string, string>) => {
      const { body } = await firm.call('GET', '/api/projects', undefined, headers);
      return JSON.stringify(body).match(/(?:ann|bob) \d/g) ?? [];
    };
    expect(await titles(await key({ user_id: ann.id }))).toEqual(['ann 1', 'ann 2']);
    expect(await titles(await key({ organization_id: bob.company }))).toEqual(['bob 1', 'bob 2']);
    expect(await titles(await key({}))).toEqual([]);
  });
});
