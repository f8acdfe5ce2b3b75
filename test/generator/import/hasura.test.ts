import type { ChildProcess } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, type TestDatabase } from '../../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from '../project.ts';
import { DATABASE, METADATA, ROWS } from './hasura-project.ts';
import { start } from './start-server.ts';

const MUTATIONS = `
type Mutation {
  createBoard(label: String!, bossId: ID): Board
  deleteBoard(id: ID!): Boolean!
  createTask(title: String!, points: Int, projectId: ID!, authorId: ID, privateNote: String): Task
  updateTask(id: ID!, title: String, state: TaskState, points: Int): Task
  deleteTask(id: ID!): Boolean!
  updateUser(id: ID!, name: String, plan: String): User
  createComment(body: String!): Comment
  deleteAudit(id: ID!): Boolean!
}
`;

/** What Hasura took from its JWT. */
const EXTEND = `import type { Extend } from '@twofold/auth';

export const extend: Extend = async (userId, { db }) => {
  const user = await db.selectFrom('users').select('org_id').where('id', '=', userId).executeTakeFirst();
  return { org_id: user?.org_id ?? null };
};
`;

const ENV = `HOST=127.0.0.1\nPORT=0\nJWT_SECRET=${'x'.repeat(64)}\nAPI_KEY=${'k'.repeat(32)}\n`;
const SECRET = { 'X-API-Key': 'k'.repeat(32) };

const postgres = databases.find(({ name }) => name === 'PostgreSQL')!;
const MISSING = postgres.missing ? ` (${postgres.missing})` : '';

/** Who asks: nobody, the admin secret, and users with their roles. */
const PEOPLE = { ann: 'member', bob: 'member', eve: 'editor', dan: 'registered' } as const;

describe.skipIf(postgres.missing)(`a project imported from Hasura${MISSING}`, () => {
  let database: TestDatabase;
  let shop: TestProject;
  let server: ChildProcess;
  let url = '';
  let secrets = '';
  const callers: Record<string, Record<string, string>> = { nobody: {}, secret: SECRET };

  const sql = async (...texts: string[]) => {
    const client = new pg.Client(database.url);
    await client.connect();
    try {
      let rows: any[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  };
  const send = async (method: string, path: string, body: unknown, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as any;
  };
  const ask = (caller: string, query: string) =>
    send('POST', '/graphql', { query }, callers[caller]);
  const importAgain = (...words: string[]) =>
    generator(['import', 'hasura', '--json', ...words], shop.root);

  beforeAll(async () => {
    database = await postgres.create();
    await sql(DATABASE);
    shop = makeProject(
      Object.fromEntries(
        Object.entries(METADATA).map(([name, text]) => [`hasura/metadata/${name}`, text]),
      ),
    );
    linkPackages(shop);
    const imported = await importAgain('--database', database.url, '--user', 'users');
    const added = 'added  JWT_SECRET to .env: random, and git ignores it\n';
    expect([imported.code, imported.stderr]).toEqual([0, added]);
    secrets = shop.read('.env');
    shop.write('.env', `${ENV}DATABASE_URL=${database.url}\n`);
    shop.write('schema.graphql', shop.read('schema.graphql') + MUTATIONS);
    shop.write('src/extend.ts', EXTEND);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    const tables = await generator(['migrate', 'sql'], shop.root);
    await sql(tables.stdout);
    [server, url] = await start(shop);
    const { roles } = await send('GET', '/api/auth/admin/roles', undefined, SECRET);
    const tokens = new Map<string, string>();
    for (const [name, role] of Object.entries(PEOPLE)) {
      const email = `${name}@example.test`;
      const account = await send('POST', '/api/auth/register', { email, password: PASSWORD });
      const { id } = roles.find((each: { name: string }) => each.name === role);
      const path = `/api/auth/admin/users/${account.id}/role`;
      await send('PUT', path, { role_id: id }, SECRET);
      tokens.set(name, email);
    }
    await sql(ROWS);
    for (const [name, email] of tokens) {
      const { accessToken } = await send('POST', '/api/auth/login', { email, password: PASSWORD });
      callers[name] = { authorization: `Bearer ${accessToken}` };
    }
  });

  afterAll(async () => {
    server?.kill('SIGKILL');
    shop?.remove();
    await database?.drop();
  });

  it.each(Object.keys(ROWS_OF))('shows %s the rows of before, and no other', async (caller) => {
    const found: Record<string, string[] | null> = {};
    for (const list of Object.keys(ROWS_OF['secret']!)) {
      const key = list === 'taskCounts' ? 'projectId' : 'id';
      const { data } = await ask(caller, `{ ${list} { ${key} } }`);
      const rows: Record<string, unknown>[] | undefined = data?.[list];
      found[list] = rows?.map((row) => String(row[key])).sort() ?? null;
    }
    expect(found).toEqual(ROWS_OF[caller]);
  });

  it('shows the columns of a role in the rows of that role', async () => {
    const seen = async (caller: string, query: string) => {
      const { data, errors = [] } = await ask(caller, query);
      expect(
        errors.every((each: any) => /^(FORBIDDEN|UNAUTHENTICATED)$/.test(each.extensions.code)),
      ).toBe(true);
      return Object.values(data ?? {})[0];
    };
    expect(await seen('ann', '{ boards { label archived } }')).toEqual([
      { label: 'of ann', archived: false },
      { label: 'of eve', archived: true },
      { label: 'without', archived: null },
    ]);
    expect(
      await seen('nobody', '{ board(id: 1) { label archived boss { id } org { id } } }'),
    ).toEqual({ label: 'of ann', archived: null, boss: null, org: null });
    const task = '{ task(id: 1) { title points budget privateNote author { id } } }';
    const shown = { title: 't1', points: 1, budget: '1.50', privateNote: 'n1' };
    expect(await seen('eve', task)).toEqual({ ...shown, author: { id: '1' } });
    const hidden = { points: null, budget: null, privateNote: null };
    expect(await seen('bob', task)).toEqual({ title: 't1', ...hidden, author: null });
    expect(await seen('secret', task)).toEqual({ ...shown, author: { id: '1' } });
    expect(await seen('eve', '{ users { email plan } }')).toHaveLength(4);
    expect(await seen('ann', '{ users { email } }')).toHaveLength(2);
    expect(await seen('ann', '{ users { plan } }')).toBeUndefined();
    expect(await seen('eve', '{ comments { body approved } }')).toEqual(
      ['c1', 'c3', 'c4', 'c5'].map((body) => ({ body, approved: null })),
    );
  });

  it('writes what a role could write, with its presets and checks, and nothing else', async () => {
    const write = async (caller: string, mutation: string) => {
      const { data, errors } = await ask(caller, `mutation { ${mutation} }`);
      return errors ? errors[0].extensions.code : Object.values(data)[0];
    };
    const board = 'createBoard(label: "new") { label boss { id } }';
    expect(await write('ann', board)).toEqual({ label: 'new', boss: { id: '1' } });
    expect(await write('ann', 'createBoard(label: "x", bossId: 2) { id }')).toBe('FORBIDDEN');
    expect(await write('eve', board)).toBe('FORBIDDEN');
    expect(await write('nobody', board)).toBe('UNAUTHENTICATED');
    const task = (rest: string) => `createTask(title: "new", ${rest}) { title author { id } }`;
    expect(await write('ann', task('points: 2, projectId: 1'))).toEqual({
      title: 'new',
      author: { id: '1' },
    });
    expect(await write('ann', task('projectId: 2'))).toBe('BAD_USER_INPUT');
    expect(await write('ann', task('projectId: 1, privateNote: "x"'))).toBe('FORBIDDEN');
    expect(await write('ann', task('projectId: 1, authorId: 2'))).toBe('FORBIDDEN');
    expect(await write('ann', 'updateTask(id: 1, title: "T1") { title }')).toEqual({ title: 'T1' });
    expect(await write('ann', 'updateTask(id: 1, state: done) { title }')).toBe('FORBIDDEN');
    expect(await write('ann', 'updateTask(id: 1, points: 2) { title }')).toBe('FORBIDDEN');
    expect(await write('eve', 'updateTask(id: 1, title: "x") { title }')).toBe('FORBIDDEN');
    expect(await write('bob', 'updateTask(id: 1, title: "x") { title }')).toBe('FORBIDDEN');
    expect(await write('ann', 'updateUser(id: 1, name: "Ann") { name }')).toEqual({ name: 'Ann' });
    expect(await write('ann', 'updateUser(id: 2, name: "x") { name }')).toBe('FORBIDDEN');
    expect(await write('ann', 'updateUser(id: 1, plan: "x") { name }')).toBe('FORBIDDEN');
    expect(await write('ann', 'createComment(body: "x") { body }')).toBe('FORBIDDEN');
    expect(await write('ann', 'deleteBoard(id: 3)')).toBe('FORBIDDEN');
    expect(await write('eve', 'deleteAudit(id: 1)')).toBe('FORBIDDEN');
    expect(await write('secret', 'deleteAudit(id: 1)')).toBe(true);
    expect(await write('ann', 'deleteTask(id: 6)')).toBe('FORBIDDEN');
    expect(await write('ann', 'deleteTask(id: 1)')).toBe(true);
    const [titles] = await sql(
      "select string_agg(title, ' ' order by id) as all from tasks where title in ('x', 'T1') or private_note = 'x'",
    );
    expect(titles).toEqual({ all: null });
  });

  it('lets no key that a user makes reach what only the admin secret could', async () => {
    const body = { name: 'mine', scopes: ['audits:read', 'drafts:read', 'tasks:read'] };
    const made = await send('POST', '/api/auth/api-keys', body, callers['ann']);
    callers['key'] = { 'X-API-Key': made.key };
    expect((await ask('key', '{ drafts { id } }')).errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await ask('key', '{ audits { id } }')).errors[0].extensions.code).toBe('FORBIDDEN');
  });

  it('writes the secrets without which the server does not start, where there was no .env', () => {
    expect(secrets).toMatch(/^JWT_SECRET=[\w-]{43}$/m);
    expect(secrets).toContain(`DATABASE_URL=${database.url}\n`);
  });

  it('names in the report what was left out, and why', () => {
    const report = shop.read('import-report.md');
    for (const line of LEFT_OUT) expect(report).toContain(line);
    expect(report.split('\n')[0]).toContain('closed to all but the `API_KEY`');
    expect(shop.read('manifest.yaml')).toContain('list: [editor, member, registered]');
  });

  it('writes nothing when it is imported again, and leaves a rule that was made narrower', async () => {
    // The report has the tables of the accounts, which were made since.
    await importAgain('--user', 'users');
    const before = shop.files();
    const again = await importAgain('--user', 'users');
    expect([again.code, JSON.parse(again.stdout).files]).toEqual([0, []]);
    expect(shop.files()).toEqual(before);
    const rule =
      '@auth(allow: [ROLE], roles: ["editor"], on: [READ], where: { tasks: { gte: "2" } })';
    const mine = rule.replace('"2"', '"9"');
    shop.write('schema.graphql', shop.read('schema.graphql').replace(rule, mine));
    const file = 'hasura/metadata/databases/default/tables/public_task_counts.yaml';
    shop.write(file, shop.read(file).replace('_gte: 2', '_gte: 1'));
    const third = await importAgain('--user', 'users');
    expect([third.code, JSON.parse(third.stdout).conflicts]).toEqual([4, ['TaskCount @auth']]);
    expect(shop.read('schema.graphql')).toContain(mine);
    expect(shop.read('schema.graphql')).not.toContain('gte: "1"');
  });
});

const PASSWORD = 'correct horse battery staple';

const [A, B] = ['a', 'b'].map((last) => `00000000-0000-0000-0000-00000000000${last}`) as [
  string,
  string,
];

const NOTHING = {
  orgs: null,
  users: null,
  boards: ['1', '4'],
  projectMembers: null,
  tasks: null,
  comments: ['1', '3', '5'],
  audits: null,
  drafts: null,
  taskCounts: null,
};

/** The rows that each caller had in Hasura, with those of everyone. Null: refused. */
const ROWS_OF: Readonly<Record<string, Readonly<Record<string, readonly string[] | null>>>> = {
  nobody: NOTHING,
  dan: NOTHING,
  ann: {
    ...NOTHING,
    orgs: [A],
    users: ['1', '2'],
    boards: ['1', '3', '4'],
    projectMembers: ['1:2'],
    tasks: ['1', '4'],
    comments: ['1', '2', '3', '5'],
  },
  bob: {
    ...NOTHING,
    orgs: [A],
    users: ['2'],
    boards: ['1', '2', '3', '4'],
    projectMembers: [],
    tasks: ['1', '4'],
    comments: ['1', '2', '3', '5'],
  },
  eve: {
    ...NOTHING,
    users: ['1', '2', '3', '4'],
    tasks: ['1'],
    comments: ['1', '3', '4', '5'],
    taskCounts: ['1'],
  },
  secret: {
    orgs: [A, B],
    users: ['1', '2', '3', '4'],
    boards: ['1', '2', '3', '4'],
    projectMembers: ['1:2', '3:1', '3:2'],
    tasks: ['1', '2', '3', '4', '5'],
    comments: ['1', '2', '3', '4', '5'],
    audits: ['1'],
    drafts: ['1'],
    taskCounts: ['1', '2', '3', '4'],
  },
};

const LEFT_OUT = [
  '`public.audit.editor.select` | permission |  | closed for editor: it has no filter',
  '`public.audit.member.select` | permission |  | closed for member: it has no filter',
  '| `sendMail` | action |',
  '| `custom_types.MailOutput` | object |',
  '| `nightly` | cron trigger |',
  '| `payments` | remote schema |',
  '| `feature_flags.yaml` | unread file |',
  '| `databases/default/tables/public_lost.yaml` | unread file |',
  '| `lead` | inherited role |',
  '| `warehouse` | source |',
  '| `default.search_tasks` | function |',
  '| `public.tasks.urgency` | computed field |',
  '| `public.tasks.task_changed` | event trigger |',
  '`public.untracked` | table |  | Hasura does not track it',
  '`public.drafts.editor.select` | permission |  | closed for editor: title: { _like: … }',
  '`public.drafts.member.select` | permission |  | closed for member: limit: 10',
  '`public.tasks.editor.update` | permission |  | closed for editor: set state: "open"',
  '`X-Hasura-Org-Id` | session variable | `{ claim: "org_id" }` |',
];
