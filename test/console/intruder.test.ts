import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStream } from './event-stream.ts';
import { type ConsoleServer, GOOD, OPERATOR, startConsole } from './server.ts';

const SETUP = 'setup-of-the-console-0123456789abcdef';
const MANIFEST = `
name: shop
api: { rest: true, access: public }
auth:
  roles: { list: [Owner, Support, Member], first: Owner, default: Member }
  email_sign_in: both
  impersonation: { ttl: 15m }
  events: { webhooks: [ { url: "http://127.0.0.1:9/in", secret_env: DEPLOY_HOOK } ] }
console: { roles: { Owner: ["*"], Support: ["*:read"] } }
`;
const ENV = {
  DEPLOY_HOOK: 'signs-what-is-sent-0123456789',
  OPENAI_BASE_URL: 'https://only-a-token@models.test/v1',
};
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('a caller who may only read the system', () => {
  let server: ConsoleServer;
  let owner: Record<string, string>;
  let reader = '';
  const login = async (email: string) =>
    (await server.call('POST', '/api/auth/login', { email, password: GOOD })).body
      .accessToken as string;
  const linesOf = async (q: string) =>
    (await server.call('GET', `/api/system/logs?q=${q}`, undefined, bearer(reader))).body.lines;
  const entries = async (query: string) =>
    (await server.call('GET', `/api/system/audit?${query}`, undefined, owner)).body.entries.map(
      ({ actor, target }: Record<string, string>) => `${actor} ${target}`,
    );
  beforeAll(async () => {
    server = await startConsole({
      manifest: MANIFEST,
      env: ENV,
      credentials: [
        ({ headers }, ctx) => {
          const [, token] = /^Own (.+)$/.exec(String(headers['authorization'])) ?? [];
          return token === undefined ? undefined : ctx.auth.verify(token);
        },
      ],
    });
    const first = { token: SETUP, email: 'owner@x.test', password: GOOD };
    await server.call('POST', '/api/auth/setup', first);
    owner = bearer(await login('owner@x.test'));
    const support = { email: 'support@x.test', password: GOOD };
    const { id } = (await server.call('POST', '/api/auth/register', support)).body;
    await server.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id: 2 }, owner);
    reader = await login('support@x.test');
  });
  afterAll(() => server?.close());

  it('finds no link and no code in the log that would make them another user', async () => {
    const email = 'owner@x.test';
    await server.call('POST', '/api/auth/forgot-password', { email });
    await server.call('POST', '/api/auth/email-sign-in', { email });
    await expect.poll(() => server.logs.filter((line) => line.includes('"mail"')).length).toBe(4);
    const written = server.logs.join('');
    const secrets = [
      ...[...written.matchAll(/(?:token|code)=([\w-]{20,})/g)].map(([, secret]) => secret!),
      ...[...written.matchAll(/code is (\d{6})/g)].map(([, code]) => code!),
    ];
    expect(secrets.length).toBeGreaterThan(4);
    const shown = JSON.stringify(await linesOf(''));
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    expect(shown).toContain('Console: ');
    expect(shown).toContain('#code=***');
    expect(await linesOf(secrets[0]!.slice(0, 12))).toEqual([]);
  });

  it('reads on after a line whose fields are called as those of the log', async () => {
    server.log.error({ level: 'x', time: 'never', requestId: { a: 1 } }, 'forged');
    const [line] = await linesOf('forged');
    expect([line.level, typeof line.request_id]).toEqual(['error', 'string']);
    expect(Math.abs(Date.parse(line.time) - Date.now())).toBeLessThan(60_000);
  });

  it('sees no secret of the settings, whatever its name is and wherever it stands', async () => {
    const { body } = await server.call('GET', '/api/system/settings', undefined, bearer(reader));
    expect(JSON.stringify(body)).not.toMatch(/signs-what-is-sent|only-a-token/);
    const hook = body.settings.find(({ name }: { name: string }) => name === 'DEPLOY_HOOK');
    expect(hook).toMatchObject({ value: null, secret: true, set: true });
  });

  it('follows the log no longer than their session lives', async () => {
    const token = await login('support@x.test');
    const stream = await readStream(`${server.url}/api/system/logs?limit=0`, token);
    expect(stream.status).toBe(200);
    await server.call('POST', '/api/auth/logout', {}, bearer(token));
    const followers = async () =>
      (await server.call('GET', '/api/system/info', undefined, owner)).body.log_followers;
    await expect.poll(followers, { timeout: 5000 }).toBe(0);
    server.log.info('said behind the closed door');
    await stream.close();
    expect(JSON.stringify(stream.lines())).not.toContain('closed door');
  });

  it('opens no more than 100 streams of the log', async () => {
    const path = `${server.url}/api/system/logs?limit=0`;
    const streams = await Promise.all(Array.from({ length: 100 }, () => readStream(path, reader)));
    const url = '/api/system/logs?limit=0';
    const stream = { ...bearer(reader), Accept: 'text/event-stream' };
    expect((await server.call('GET', url, undefined, stream)).status).toBe(429);
    await Promise.all(streams.map((each) => each.close()));
  });

  it('leaves an entry for each type whose rows they saw, also where another embeds them', async () => {
    const as = bearer(reader);
    await server.call('GET', '/api/data/posts?include=author.posts', undefined, as);
    expect(await entries('action=readRowsAsAdmin')).toEqual(['user:2 authors', 'user:2 posts']);
  });

  it('is not named for what an administrator does in their place', async () => {
    const reason = { reason: 'a look' };
    const path = '/api/auth/admin/users/2/impersonate';
    const { body, status: made } = await server.call('POST', path, reason, owner);
    expect([made, body.error]).toEqual([200, undefined]);
    const as = { Authorization: `Own ${body.accessToken}` };
    const seen = await server.call('GET', '/api/data/posts', undefined, as);
    expect([seen.status, seen.body.error]).toEqual([200, undefined]);
    expect(await entries('action=readRowsAsAdmin&target=posts')).toEqual([
      'user:1 posts',
      'user:2 posts',
    ]);
  });
});

it('a mailbox in an address is shown, and the password behind it is not', async () => {
  const env = { SMTP_URL: 'smtp://me@mail.test:hunter2@smtp.test:587' };
  const server = await startConsole({ env });
  const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
  const listed = await server.call('GET', '/api/system/settings', undefined, bearer(body.token));
  await server.close();
  const smtp = listed.body.settings.find(({ name }: { name: string }) => name === 'SMTP_URL');
  expect(smtp.value).toBe('smtp://me@mail.test:***@smtp.test:587');
});
