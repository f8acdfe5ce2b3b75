import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../server/program.ts';
import { root } from '../source-files.ts';
import { starters } from '../../templates/starter/index.ts';

const execute = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'twofold-journey-'));
const git = (cwd: string, ...words: string[]) =>
  execute('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', ...words], { cwd });

/** What a person types, in a folder that has nothing to do with this repository. */
async function type(cwd: string, command: string, ...words: string[]): Promise<string> {
  const { stdout } = await execute(command, words, { cwd, env: environment(), maxBuffer: 1 << 26 });
  return stdout;
}

/** As a shell outside a package script has it: no settings of a server, nothing of npm’s. */
function environment(more: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV|PORT|HOST|DATABASE_URL|CI$)/.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...more };
}

interface Serving {
  readonly url: string;
  readonly child: ChildProcess;
  stop(): Promise<number | null>;
}

async function serve(cwd: string): Promise<Serving> {
  const child = spawn('npm', ['start'], {
    cwd,
    env: environment({ PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => reject(new Error(`npm start ended with ${code}:\n${text}`)));
  });
  return { url, child, stop: () => (process.kill(-(child.pid as number), 'SIGTERM'), ended) };
}

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('npx generator init in an empty folder elsewhere', () => {
  const project = join(home, 'shop');
  beforeAll(async () => void (await type(root, 'npx', 'generator', 'init', project)));

  it('writes secrets that only their owner can read, and none into what is committed', () => {
    expect(statSync(join(project, '.env')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(project, '.gitignore'), 'utf8')).toContain('.env');
  });

  it('resolves nothing of ours from a registry', () => {
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { resolved?: string }>;
    };
    const ours = Object.entries(lock.packages).filter(([path]) =>
      /node_modules\/(@twofold\/|generator$)/.test(path),
    );
    expect(ours.map(([path]) => path).sort()).toEqual([
      'node_modules/@twofold/auth',
      'node_modules/@twofold/console',
      'node_modules/@twofold/database',
      'node_modules/@twofold/generator',
      'node_modules/@twofold/runtime',
      'node_modules/@twofold/schema',
    ]);
    for (const [, { resolved }] of ours) expect(resolved).toMatch(/^file:vendor\//);
  });

  it('type-checks under strict, and a second run after the first commit changes nothing', async () => {
    expect(
      JSON.parse(readFileSync(join(project, 'tsconfig.json'), 'utf8')).compilerOptions.strict,
    ).toBe(true);
    await type(project, 'npm', 'run', 'typecheck');
    await git(project, 'init', '-q');
    await git(project, 'add', '-A');
    await git(project, 'commit', '-qm', 'first');
    await type(project, 'npm', 'run', 'generate');
    await type(project, 'npm', 'run', 'check');
    expect((await git(project, 'status', '--porcelain')).stdout).toBe('');
  });

  it('starts, answers, keeps what it is told, and stops when asked', async () => {
    const first = await serve(project);
    expect(await query(first.url, '{ users { id name email } }')).toEqual({ data: { users: [] } });
    const created = await query(
      first.url,
      'mutation { createUser(input: { name: "Ada", email: "ada@example.test" }) { id } }',
    );
    expect(created).toEqual({ data: { createUser: { id: '1' } } });
    await first.stop();
    const second = await serve(project);
    expect(await query(second.url, '{ users { id name email } }')).toEqual({
      data: { users: [{ id: '1', name: 'Ada', email: 'ada@example.test' }] },
    });
    await second.stop();
    expect((await git(project, 'status', '--porcelain')).stdout).toBe('');
  });

  it('passes its own tests', async () => {
    await type(project, 'npm', 'test');
  });
});

describe('the company template', () => {
  const project = join(home, 'company');
  let server: Serving;
  beforeAll(async () => {
    await type(root, 'npx', 'generator', 'init', project, '--template', 'company');
    await type(project, 'npm', 'run', 'typecheck');
    server = await serve(project);
  });
  afterAll(async () => void (await server.stop()));

  const call = async (method: string, path: string, body?: unknown, token?: string) => {
    const headers = {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
    };
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as any };
  };
  const person = {
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.test',
    password: 'correct horse battery',
  };

  it('registers, signs in, lets a mutation through, says who it is, and signs out for good', async () => {
    expect((await call('POST', '/api/auth/register', person)).status).toBe(201);
    const { status, body } = await call('POST', '/api/auth/login', {
      email: person.email,
      password: person.password,
    });
    expect(status).toBe(200);
    const token = body.accessToken as string;
    const create = 'mutation { createCompany(name: "Analytical Engines") { name } }';
    expect((await query(server.url, create)).errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(await query(server.url, create, {}, { Authorization: `Bearer ${token}` })).toEqual({
      data: { createCompany: { name: 'Analytical Engines' } },
    });
    expect(
      await query(server.url, starters.company.query, {}, { Authorization: `Bearer ${token}` }),
    ).toEqual({ data: { companies: [{ name: 'Analytical Engines', projects: [] }] } });
    expect(await call('GET', '/api/auth/me', undefined, token)).toMatchObject({
      status: 200,
      body: { id: 1, email: person.email },
    });
    expect(await call('POST', '/api/auth/logout', undefined, token)).toEqual({
      status: 200,
      body: { message: 'Logout successful' },
    });
    expect(await call('GET', '/api/auth/me', undefined, token)).toEqual({
      status: 401,
      body: { error: 'Unauthorized' },
    });
    expect((await query(server.url, create, {}, { Authorization: `Bearer ${token}` })).data).toBe(
      undefined,
    );
  });

  it('signs tokens that another library verifies with the raw secret, and that hold what the answer shows', async () => {
    const secret =
      /^JWT_SECRET=(.+)$/m.exec(readFileSync(join(project, '.env'), 'utf8'))?.[1] ?? '';
    const { body } = await call('POST', '/api/auth/login', {
      email: person.email,
      password: person.password,
    });
    const { payload, protectedHeader } = await jose.jwtVerify(
      body.accessToken,
      new TextEncoder().encode(secret),
      { algorithms: ['HS256'] },
    );
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload).toMatchObject({ user_id: 1, exp: body.exp, extend: body.extend });
    expect(body.extend).toEqual({ user_id: 1, company_id: null });
  });
});
