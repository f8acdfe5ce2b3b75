import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { authRoutes, type RouteSpec } from '@twofold/schema';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { DEFAULT_LIMITS } from '../../runtime/auth/base/defaults.ts';
import { EVENT_TYPES } from '../../runtime/auth/events/event-types.ts';
import { buildProject, PAGES_KEY, startProject } from '../docs/emitted.ts';
import { type Block, type Page, readPage } from '../docs/page.ts';
import { root, sourceFiles } from '../source-files.ts';
import { API_KEY, describeEachDatabase, startServer } from './harness.ts';
import { startHostile } from './hostile-provider.ts';

const FOLDER = 'runtime/auth/docs';
const pages = readdirSync(new URL(`../../${FOLDER}`, import.meta.url))
  .filter((name) => name.endsWith('.md'))
  .sort()
  .map((name) => readPage(`${FOLDER}/${name}`));
const page = (name: string) => pages.find(({ path }) => path.endsWith(`/${name}.md`))!;

/** Answers of a page that name something: the next calls use it under this name. */
const NAMES = { accessToken: 'TOKEN', refreshToken: 'REFRESH', key: 'KEY', id: 'ID' } as const;

/** Runs the calls of a page from top to bottom in a real shell; the answer below a call is what it has to get. */
async function play(
  { path, blocks }: Page,
  url: string,
  mailToken: (path: string) => Promise<string>,
  key = API_KEY,
): Promise<number> {
  const env: Record<string, string> = { API_KEY: key };
  let calls = 0;
  for (const [index, block] of blocks.entries()) {
    if (block.language !== 'sh') continue;
    calls += 1;
    const place = `${path}:${block.line}`;
    const wanted = blocks[index + 1]!;
    expect([place, wanted.language]).toEqual([place, 'json']);
    const { status, body } = await shell(block.text, url, {
      ...env,
      MAIL_TOKEN: block.text.includes('$MAIL_TOKEN') ? await mailToken(asked(block)) : '',
    });
    expect([place, status, body]).toEqual([
      place,
      Number(wanted.options['status'] ?? 200),
      expectedOf(wanted),
    ]);
    for (const [field, name] of Object.entries(NAMES))
      if (body !== null && typeof body === 'object' && field in body)
        env[name] = String((body as Record<string, unknown>)[field]);
  }
  return calls;
}

/** The last part of the path that is called: links of mails have it too. */
const asked = ({ text }: Block) => /\/api\/auth\/([\w-]+)/.exec(text)?.[1] ?? '';

/** `"…"` is what differs each time. */
function expectedOf(block: Block): unknown {
  return JSON.parse(block.text, (_, value: unknown) => (value === '…' ? expect.anything() : value));
}

function shell(
  command: string,
  url: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const script = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }\n${command.replaceAll('localhost:8080', url)}`;
  return new Promise(
    (resolve, reject) =>
      void execFile(
        'bash',
        ['-c', script],
        { env: { ...process.env, ...env } },
        (error, stdout, stderr) => {
          if (error) return reject(new Error(`${command}\n${stderr}`));
          const [, body = '', status = ''] = /^([^]*)\n(\d{3})$/.exec(stdout) ?? [];
          resolve({ status: Number(status), body: body.trim() === '' ? null : JSON.parse(body) });
        },
      ),
  );
}

describeEachDatabase('the pages of auth', (database) => {
  for (const name of ['sign-in', 'passwords', 'keys', 'providers', 'events']) {
    it(`${name}.md: every call answers as it says`, async () => {
      const provider = await startHostile();
      const server = await startServer({
        database,
        env: {
          GOOGLE_CLIENT_ID: 'shop',
          GOOGLE_CLIENT_SECRET: 'hush',
          GOOGLE_REDIRECT_URL: 'http://127.0.0.1:1/api/oauth/google/callback',
        },
        auth: {
          oauth: {
            providers: [{ name: 'google', preset: 'google', options: { issuer: provider.issuer } }],
          },
        },
      });
      // A mail may be sent after its answer.
      const linkTo = (path: string) => new RegExp(`/${path}\\?token=([\\w-]+)`, 'g');
      const token = (path: string) => [...server.logs.join('').matchAll(linkTo(path))].at(-1)?.[1];
      const calls = await play(page(name), server.url, async (path) => {
        await expect.poll(() => token(path)).toBeDefined();
        return token(path)!;
      });
      expect(calls).toBeGreaterThan(2);
      await server.close();
      await provider.close();
    });
  }
});

describe.each([
  [
    'own-code',
    10,
    'extend.ts auth-events.ts auth-hooks.ts credentials.ts routes.ts resolvers/Query.ts',
  ],
  ['ctx-auth', 20, 'routes.ts'],
])('%s.md', (name, calls, names) => {
  it('is a project that type-checks, starts and answers as the page says', async () => {
    const { blocks } = page(name);
    const schema = blocks.find(({ role }) => role === 'project')!;
    const files = blocks.filter(({ options }) => options['file'] !== undefined);
    expect(files.map(({ options }) => options['file'])).toEqual(
      names.split(' ').map((file) => `src/${file}`),
    );
    const project = await buildProject(schema.text, 'name: shop\nauth: {}\n', files);
    try {
      const world = await startProject(project, ':memory:');
      const played = play(page(name), world.url, async () => '', PAGES_KEY);
      expect(await played.finally(world.close)).toBe(calls);
    } finally {
      project.remove();
    }
  }, 240_000);
});

describe('the pages of auth', () => {
  const text = pages.map((each) => each.text).join('\n');
  const settings = page('settings').text;

  /** Settings of every server, which its own pages have. */
  const OF_THE_SERVER: ReadonlySet<string> = new Set(['PORT', 'DATABASE_URL']);
  it('have every setting that the module reads', () => {
    const read = sourceFiles('runtime/auth')
      .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
      .join('\n');
    const names = new Set(
      [...read.matchAll(/(?:settings\.(?:text|flag|number)\(|env\[)'([A-Z][A-Z_]+)'/g)].map(
        ([, name]) => name!,
      ),
    );
    expect(names.size).toBeGreaterThan(10);
    expect(
      [...names].filter((name) => !OF_THE_SERVER.has(name) && !settings.includes(`\`${name}\``)),
    ).toEqual([]);
  });

  it('have every limit with its numbers', () => {
    const rows = settings.split('\n').filter((line) => /^\| `[a-z-]+`/.test(line));
    for (const [name, { count, window }] of Object.entries(DEFAULT_LIMITS)) {
      const row = rows.find((line) => line.includes(`\`${name}\``)) ?? '';
      expect([
        name,
        row.includes(String(count)),
        new RegExp(`in ${window / 60_000} m|in ${window / 3_600_000} h`).test(row) ||
          row.includes(`, ${count} in`),
      ]).toEqual([name, true, true]);
    }
  });

  it('have every type of event, and none that is not there', () => {
    const named = [
      ...page('events').text.matchAll(
        /`((?:user|auth|token|passkey|totp|recovery_codes?|device|organization|member|invitation|password|email|oauth|api_key|permission|organization|member|invitation|rate_limit|config|webhook|alert)\.[a-z_.]+)`/g,
      ),
    ]
      .map(([, type]) => type!)
      .filter((type) => !/^auth\.(events|oauth)\./.test(type));
    expect(Object.keys(EVENT_TYPES).filter((type) => !named.includes(type))).toEqual([]);
    expect(named.filter((type) => !(type in EVENT_TYPES))).toEqual([]);
  });

  it('speak of every route', () => {
    const missing = authFlows.filter(({ path }) => {
      const short = path.replace('/api/auth/admin', '');
      return (
        !text.includes(path) &&
        !text.includes(short) &&
        !new RegExp(path.replaceAll(/:\w+/g, '[\\w$.-]+')).test(text)
      );
    });
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('are named in the schema, which knows nothing else of them', () => {
    const names = (routes: readonly RouteSpec[]) =>
      routes.map(({ method, path }) => `${method} ${path}`).toSorted();
    expect(names(authFlows)).toEqual(names(authRoutes));
  });

  it('are linked from the README of the module, and link each other right', () => {
    const readme = readFileSync(`${root}/runtime/auth/README.md`, 'utf8');
    expect(
      pages
        .map(({ path }) => path.replace('runtime/auth/', ''))
        .filter((path) => !readme.includes(path)),
    ).toEqual([]);
  });
});
