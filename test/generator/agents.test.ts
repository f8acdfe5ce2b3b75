import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../generator/cli/commands.ts';
import { fitting } from '../../generator/mcp/project-tools.ts';
import { openContext } from '../../runtime/core/index.ts';
import type { McpClient } from '../mcp/server.ts';
import { generator, linkPackages, makeProject, repo, SEED, type TestProject } from './project.ts';

let project: TestProject;
beforeAll(async () => {
  project = makeProject();
  linkPackages(project);
  expect((await generator(['generate'], project.root)).code).toBe(0);
  const { app } = await import(project.path('src/generated/app.ts'));
  const context = await openContext(app);
  await context.data.user.create({ data: { name: 'Ada', email: 'ada@example.com' } });
  await context.close();
});
afterAll(() => project.remove());

/** A client of each era, over the standard input and output of the program. */
async function connect(era: 'modern' | 'legacy', root: string = project.root): Promise<McpClient> {
  const info = { name: 'test', version: '1.0.0' };
  const server = {
    command: process.execPath,
    args: [join(repo, 'generator/bin.js'), 'mcp', '--cwd', root],
  };
  if (era === 'modern') {
    const client = new ModernClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new ModernStdio(server));
    return client as unknown as McpClient;
  }
  const client = new LegacyClient(info);
  await client.connect(new LegacyStdio(server) as never);
  return client as unknown as McpClient;
}

// Acceptance 11 of client.md.
describe.each(['modern', 'legacy'] as const)('generator mcp, a client of the %s era', (era) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await connect(era);
  });
  afterAll(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    return { ...JSON.parse(content[0].text), failed: isError === true };
  };

  it('has five tools that only read, in a list of at most 4 kB', async () => {
    const list = await client.listTools();
    expect(list.tools.map(({ name }) => name)).toEqual([
      'check',
      'docs',
      'explain',
      'plan',
      'query',
    ]);
    expect(list.tools.every(({ annotations }) => annotations.readOnlyHint)).toBe(true);
    expect(JSON.stringify(list).length).toBeLessThan(4096);
  });

  it('answers, and writes no file and no row', { timeout: 120_000 }, async () => {
    const before = project.files();
    expect(await call('check')).toMatchObject({ ok: true, findings: [] });
    expect((await call('docs', { query: 'full-text search' })).sections[0].page).toMatch(/search/);
    for (const [query, page] of [
      ['how do I rename a field without losing data', 'generator/docs/commands.md'],
      ['restrict a field to admins', 'runtime/core/graphql/docs/access.md'],
      ['CORS for my front end', 'runtime/core/graphql/docs/limits.md'],
      ['pagination cursor', 'runtime/core/graphql/docs/queries.md'],
      ['send an email when a user signs up', 'runtime/auth/docs/mails.md'],
      ['how can I run a job every night', 'runtime/core/jobs/docs/jobs.md'],
      ['What is NOT_INFERRED?', 'schema/docs/findings.md'],
    ] as const) {
      const { sections } = await call('docs', { query });
      expect(sections.slice(0, 4).map((each: { page: string }) => each.page)).toContain(page);
    }
    expect(await call('explain', { coordinate: 'Usr' })).toMatchObject({ failed: true });
    expect((await call('explain', { coordinate: 'User.name' })).explanations[0].coordinate).toBe(
      'User.name',
    );
    expect(await call('query', { document: '{ users { name } }' })).toMatchObject({
      data: { users: [{ name: 'Ada' }] },
    });
    project.write('schema.graphql', SEED.replace('email: String!', 'email: String!\n  age: Int'));
    const plan = await call('plan');
    expect(plan.migrations[0].text).toContain('age');
    project.write('schema.graphql', SEED.replace('String!', 'Strin!'));
    const wrong = await call('check');
    expect([wrong.ok, wrong.findings[0].code]).toEqual([false, 'TYPE_UNKNOWN']);
    project.write('schema.graphql', SEED);
    const tables = /^data\/app\.db-/;
    const kept = (files: Record<string, string>) =>
      Object.entries(files).filter(([path]) => !tables.test(path));
    expect(kept(project.files())).toEqual(kept(before));
  });

  it('refuses a guarded database', { timeout: 60_000 }, async () => {
    project.write('.env', 'DATABASE_URL=postgres://app@db.example.com/shop\n');
    expect((await call('query', { document: '{ users { name } }' })).error.code).toBe(
      'DATABASE_GUARDED',
    );
    project.write('.env', '');
  });
});

it('a query has the rights of the user that it names, and those of nobody without one', async () => {
  const own = makeProject({
    'schema.graphql': `type User { id: ID! name: String! email: String! }
type Note @auth(allow: [OWNER], owner: "author") { id: ID! text: String! author: User! }
type Query { notes: [Note!]! }
`,
    'manifest.yaml': 'name: notes\nauth: {}\n',
    '.env': `JWT_SECRET=${'s'.repeat(43)}\nAPI_KEY=${'k'.repeat(43)}\n`,
  });
  linkPackages(own);
  let client: McpClient | undefined;
  try {
    expect((await generator(['generate', '--quiet'], own.root)).code).toBe(0);
    const { app } = await import(own.path('src/generated/app.ts'));
    const context = await openContext(app);
    const ids: string[] = [];
    for (const name of ['Ada', 'Bob']) {
      const email = `${name}@example.com`;
      const [user] = await context.db
        .insertInto('users')
        .values({ name, email })
        .returning('id')
        .execute();
      await context.data.note.create({ data: { text: `of ${name}`, authorId: String(user!.id) } });
      ids.push(String(user!.id));
    }
    await context.close();
    client = await connect('modern', own.root);
    const notes = async (args: { user?: string }) => {
      const given = { document: '{ notes { text } }', ...args };
      const { content, _meta, isError } = await client!.callTool({
        name: 'query',
        arguments: given,
      });
      const answer = JSON.parse(content[0].text);
      expect(isError === true).toBe(answer.data === undefined || answer.data === null);
      if (!isError) expect(_meta).toMatchObject({ 'twofold/untrusted': true });
      return answer;
    };
    expect(await notes({ user: ids[1]! })).toEqual({ data: { notes: [{ text: 'of Bob' }] } });
    expect((await notes({})).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(await notes({ user: 'ada@example.com' })).toMatchObject({
      error: { code: 'USER_UNKNOWN', message: expect.stringContaining('the id of a row') },
    });
    const rows = own.read('schema.graphql');
    own.write('schema.graphql', rows.replace('[OWNER], owner: "author"', '[PUBLIC]'));
    expect((await generator(['generate', '--quiet'], own.root)).code).toBe(0);
    const all = (await notes({ user: ids[1]! })).data.notes.map(({ text }: any) => text);
    expect(all).toEqual(['of Ada', 'of Bob']);
  } finally {
    await client?.close();
    own.remove();
  }
});

it('a query writes nothing: it is no mutation, no subscription, and its database is read-only', async () => {
  const own = makeProject({
    'schema.graphql': `type Note { id: ID! text: String! }
type Query { notes: [Note!]! touch: Int! }
type Mutation { createNote(text: String!): Note! }
type Subscription { noteCreated: Note! }
`,
    'manifest.yaml': 'name: notes\n',
    'src/resolvers/Query.ts': `import type { QueryResolvers } from '../generated/types.ts';

export const resolvers: QueryResolvers = {
  touch: async (_parent, _args, { db }) => {
    await db.insertInto('notes').values({ text: 'by a query' }).execute();
    return 1;
  },
};
`,
  });
  linkPackages(own);
  let client: McpClient | undefined;
  try {
    expect((await generator(['generate', '--quiet'], own.root)).code).toBe(0);
    const { app } = await import(own.path('src/generated/app.ts'));
    await (await openContext(app)).close();
    client = await connect('modern', own.root);
    const ask = async (document: string) => {
      const { content } = await client!.callTool({ name: 'query', arguments: { document } });
      return JSON.parse(content[0].text);
    };
    for (const [kind, document] of [
      ['mutation', 'mutation { createNote(text: "x") { id } }'],
      ['subscription', 'subscription { noteCreated { id } }'],
    ] as const)
      expect((await ask(document)).errors).toMatchObject([
        { message: `only queries run here, and this is a ${kind}` },
      ]);
    expect((await ask('{ touch }')).errors).toHaveLength(1);
    expect(await ask('{ notes { text } }')).toEqual({ data: { notes: [] } });
  } finally {
    await client?.close();
    own.remove();
  }
});

it('an answer has at most 64 KiB as JSON, and says when it was cut', () => {
  for (const part of ['x', '"', '\u0001', '\u{1F600}', 'é']) {
    const text = fitting(part.repeat(70_000));
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThanOrEqual(64 * 1024);
    expect(text).toMatch(/\[cut: the whole answer has \d+ bytes\. Ask for less\.\]$/);
    expect(text.isWellFormed()).toBe(true);
  }
  expect(fitting({ ok: true })).toBe('{"ok":true}');
});

it('generator mcp asks one process again and again, and another one after a file was saved', async () => {
  const clock = (time: string) => `import { appendFileSync, mkdirSync } from 'node:fs';
mkdirSync('data', { recursive: true });
appendFileSync('data/starts.txt', 'started ${time}\\n');
export default { name: 'clock', resolvers: { Query: { now: () => '${time}' } } };
`;
  const shop = makeProject({
    'schema.graphql':
      'type Query { users: [User!]! now: String! }\ntype User { id: ID! name: String! }\n',
    'manifest.yaml': 'name: shop\n',
    'src/plugins/clock.ts': clock('12:00'),
  });
  try {
    linkPackages(shop);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0 });
    expect(await generator(['migrate'], shop.root)).toMatchObject({ code: 0 });
    shop.write('data/starts.txt', '');
    const client = await connect('legacy', shop.root);
    const call = async (name: string, args: Record<string, unknown>) =>
      JSON.parse((await client.callTool({ name, arguments: args })).content[0].text);
    const now = { document: '{ now }' };
    expect((await call('explain', { coordinate: 'User.name' })).ok).toBe(true);
    expect((await call('query', now)).data).toEqual({ now: '12:00' });
    expect((await call('query', now)).data).toEqual({ now: '12:00' });
    expect(shop.read('data/starts.txt')).toBe('started 12:00\n');
    shop.write('src/plugins/clock.ts', clock('13:00'));
    expect((await call('query', now)).data).toEqual({ now: '13:00' });
    shop.write('src/plugins/clock.ts', "throw new Error('broken');\n");
    expect((await call('query', now)).error).toMatchObject({ code: 'PROJECT_FAILED' });
    shop.write('src/plugins/clock.ts', clock('14:00'));
    expect((await call('query', now)).data).toEqual({ now: '14:00' });
    await client.close();
  } finally {
    shop.remove();
  }
});

it('AGENTS.md has the line that starts generator mcp from an editor', () => {
  const line = project.read('AGENTS.md').match(/^.*"mcpServers".*$/m)?.[0];
  expect(JSON.parse(line ?? 'null')).toEqual({
    mcpServers: { shop: { command: 'npx', args: ['generator', 'mcp'] } },
  });
});

// Acceptance 10 of client.md.
it('AGENTS.md names commands that there are', async () => {
  const folder = makeProject({});
  const words = ['init', 'shop', '--no-install', '--packages', 'registry'];
  expect((await generator(words, folder.root)).code).toBe(0);
  const text = folder.read('shop/AGENTS.md');
  const { scripts } = JSON.parse(folder.read('shop/package.json'));
  folder.remove();
  const ran = [...text.matchAll(/npm (?:run )?(?:-s )?([a-z]+)(?: -- ([a-z]+))?/g)];
  expect(ran.length).toBeGreaterThan(7);
  const known = new Set([...commands.map(({ name }) => name), 'status']);
  for (const [whole, script, command] of ran) {
    expect([whole, Object.hasOwn(scripts, script!)]).toEqual([whole, true]);
    if (command !== undefined) expect([whole, known.has(command)]).toEqual([whole, true]);
  }
  for (const [whole, command] of text.matchAll(/`generator ([a-z]+)/g))
    expect([whole, known.has(command!)]).toEqual([whole, true]);
});

it('AGENTS.md is short, and every path in it exists', () => {
  const text = project.read('AGENTS.md');
  expect(text.split('\n').length).toBeLessThanOrEqual(150);
  const paths = [...text.matchAll(/`([\w./-]+\/[\w./-]*|[\w.-]+\.(?:graphql|yaml|json|lock|md))`/g)]
    .map(([, path]) => path!)
    .filter((path) => !path.startsWith('@') && path !== 'src/routes.ts');
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.filter((path) => !existsSync(project.path(path)))).toEqual([]);
});
