import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planRun } from '../generator/pipeline.ts';
import { disk } from '../generator/write/disk.ts';
import { createServer, type Running } from '../runtime/core/index.ts';
import { generator, makeProject, repo, typecheck } from './generator/project.ts';

const examples = ['blog', 'company', 'hosting'] as const;
const folder = (name: string) => join(repo, 'examples', name);

describe('every example', () => {
  test.each(examples)('%s is what a run produces', async (name) => {
    const { changes, findings } = await planRun(folder(name), {}, disk);
    expect(findings.filter(({ severity }) => severity !== 'hint')).toEqual([]);
    expect(
      changes.filter(({ kind }) => kind !== 'same').map(({ path, kind }) => `${kind} ${path}`),
    ).toEqual([]);
  });

  test.each(examples)('%s is what init writes', async (name) => {
    const fresh = makeProject({});
    try {
      await generator(
        ['init', name, '--template', name, '--no-install', '--packages', 'registry'],
        fresh.root,
      );
      const written = Object.entries(fresh.files()).map(
        ([path, text]) => [path.slice(name.length + 1), text] as const,
      );
      // Secrets and the lock of a run are ignored by git, so a fresh clone has none.
      for (const [path, text] of written.filter(
        ([path]) => path !== '.env' && path !== '.generator/run.lock',
      ))
        expect([path, readFileSync(join(folder(name), path), 'utf8')]).toEqual([path, text]);
    } finally {
      fresh.remove();
    }
  });

  test.each(examples)('%s type-checks under strict, with nothing suppressed', async (name) => {
    expect(await typecheck(folder(name))).toEqual([]);
    const files = readdirSync(join(folder(name), 'src'), {
      recursive: true,
      withFileTypes: true,
    }).filter((entry) => entry.isFile());
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toMatch(
        /@ts-(ignore|nocheck|expect-error)|eslint-disable/,
      );
  });

  test.each(examples)(
    '%s has at most eight generated lines for each line of its schema, types and hosting apart',
    (name) => {
      const lines = (path: string) =>
        readFileSync(join(folder(name), path), 'utf8').split('\n').length;
      const generated = readdirSync(join(folder(name), 'src/generated')).filter(
        // What hosting.ts holds follows from the manifest, of which the schema has no line.
        (file) => file.endsWith('.ts') && file !== 'types.ts' && file !== 'hosting.ts',
      );
      const total = generated.reduce((sum, file) => sum + lines(`src/generated/${file}`), 0);
      expect(total).toBeLessThanOrEqual(8 * lines('schema.graphql'));
    },
  );
});

/** Starts an example over a database in memory, and asks it things. */
function serve(name: string): {
  graphql(query: string, token?: string): Promise<any>;
  call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; body: any }>;
} {
  let running: Running;
  const data = mkdtempSync(join(tmpdir(), 'twofold-example-'));
  beforeAll(async () => {
    const { app } = await import(`../examples/${name}/src/generated/app.ts`);
    const env = {
      DATABASE_URL: `file:${join(data, 'app.db')}`,
      HOSTING_INGRESS: 'inline',
      JWT_SECRET: 'j'.repeat(43),
      API_KEY: 'k'.repeat(43),
      HOST_PASSWORD: 'correct horse battery',
      LOG_LEVEL: 'silent',
    };
    running = await createServer(app).start('127.0.0.1:0', { env, logTo: { write: () => {} } });
  });
  afterAll(async () => {
    await running?.close();
    rmSync(data, { recursive: true, force: true });
  });
  const call = async (method: string, path: string, body?: unknown, token?: string) => {
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${running.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    call,
    graphql: async (query, token) => (await call('POST', '/graphql', { query }, token)).body,
  };
}

describe('the blog', () => {
  const { graphql } = serve('blog');

  test('keeps authors, posts, tags and comments, and answers through their relations', async () => {
    await graphql('mutation { createAuthor(name: "Ann", email: "ann@example.test") { id } }');
    await graphql('mutation { createTag(name: "news") { id } }');
    await graphql(
      'mutation { createPost(input: { title: "One", body: "some words", authorId: 1, tagIds: [1], status: PUBLISHED }) { id } }',
    );
    await graphql('mutation { createComment(postId: 1, text: "Nice") { id } }');
    expect(
      await graphql(
        '{ posts(status: PUBLISHED, limit: 4) { title minutes author { name posts { title } } tags { name posts { id } } comments { text } } }',
      ),
    ).toEqual({
      data: {
        posts: [
          {
            title: 'One',
            minutes: 1,
            author: { name: 'Ann', posts: [{ title: 'One' }] },
            tags: [{ name: 'news', posts: [{ id: '1' }] }],
            comments: [{ text: 'Nice' }],
          },
        ],
      },
    });
    expect(await graphql('{ posts(status: DRAFT) { id } }')).toEqual({ data: { posts: [] } });
  });
});

describe('the company', () => {
  const { graphql, call } = serve('company');
  const person = {
    email: 'ann@example.test',
    password: 'correct horse battery staple',
    name: 'Ann',
  };

  test('answers nobody without a token, and carries the company in the token', async () => {
    expect(await graphql('{ users { id } }')).toMatchObject({
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
    const registered = await call('POST', '/api/auth/register', person);
    expect(registered).toMatchObject({
      body: { id: 1, role_name: 'Member', extend: { user_id: 1, company_id: null } },
    });
    const token = registered.body.accessToken;
    expect(await graphql('mutation { createCompany(name: "Acme") { id } }', token)).toEqual({
      data: { createCompany: { id: '1' } },
    });
    expect(
      await graphql(
        'mutation { joinCompany(companyId: 1) { name company { name employees { name } } } }',
        token,
      ),
    ).toEqual({
      data: {
        joinCompany: { name: 'Ann', company: { name: 'Acme', employees: [{ name: 'Ann' }] } },
      },
    });
    const login = await call('POST', '/api/auth/login', {
      email: person.email,
      password: person.password,
    });
    expect(login.body.extend).toEqual({ user_id: 1, company_id: '1' });
    expect(
      JSON.parse(Buffer.from(login.body.accessToken.split('.')[1], 'base64url').toString()),
    ).toMatchObject({ user_id: 1, extend: login.body.extend });
  });

  test('ends a token with its session', async () => {
    const { body } = await call('POST', '/api/auth/login', {
      email: person.email,
      password: person.password,
    });
    expect(await call('GET', '/api/auth/me', undefined, body.accessToken)).toMatchObject({
      status: 200,
      body: { email: person.email },
    });
    expect(await call('POST', '/api/auth/logout', {}, body.accessToken)).toMatchObject({
      status: 200,
    });
    expect(await call('GET', '/api/auth/me', undefined, body.accessToken)).toMatchObject({
      status: 401,
    });
  });
});

describe('the hosting server', () => {
  const { graphql, call } = serve('hosting');

  test('is healthy with or without an engine, and lets its owner in', async () => {
    expect(await call('GET', '/api/health')).toMatchObject({
      status: 200,
      body: { status: 'ok', podman: expect.stringMatching(/^(dis)?connected$/) },
    });
    expect(await call('GET', '/api/apps')).toMatchObject({ status: 401 });
    const { status, body } = await call('POST', '/api/auth/login', {
      password: 'correct horse battery',
    });
    expect(status).toBe(200);
    expect(await call('GET', '/api/apps', undefined, body.accessToken ?? body.token)).toMatchObject(
      { status: 200, body: { apps: [], total: 0 } },
    );
  });

  test('keeps its own tables beside', async () => {
    const { token } = (await call('POST', '/api/auth/login', { password: 'correct horse battery' }))
      .body;
    await graphql('mutation { createTeam(name: "core") { id } }', token);
    await graphql('mutation { createHostedApp(name: "shop", teamId: 1) { id } }', token);
    expect(await graphql('{ teams { name apps { name } } }', token)).toEqual({
      data: { teams: [{ name: 'core', apps: [{ name: 'shop' }] }] },
    });
  });

  test('shows its tables to nobody without a credential, and takes nothing from them', async () => {
    for (const query of [
      '{ teams { name } }',
      '{ hostedApps { name } }',
      'mutation { createTeam(name: "mine") { id } }',
      'mutation { deleteHostedApp(id: 1) }',
    ])
      expect(await graphql(query)).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      });
    expect(await call('GET', '/api/teams')).toMatchObject({ status: 401 });
    expect(await call('POST', '/api/teams', { name: 'mine' })).toMatchObject({ status: 401 });
  });
});
