import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { generator, type Random } from './random.ts';
import {
  API_KEY,
  describeEachDatabase,
  GOOD,
  SECRET,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

/** What is sent as it stands: headers as raw pairs, so that one may come twice, and a body of any bytes. */
interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
}

/** What the server gave out in the run: none of it may be found in the log. */
interface Given {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly device: string;
  readonly apiKey: string;
}

const SHOTS = { SQLite: 10_000, PostgreSQL: 2_500 } as const;
const ROUND = 500;
const AT_ONCE = 16;
const ENDPOINTS = {
  authorize_url: 'http://127.0.0.1:9/a',
  access_url: 'http://127.0.0.1:9/t',
  profile_url: 'http://127.0.0.1:9/p',
};

describeEachDatabase('§2.0 fuzzed headers and bodies', (database) => {
  it(`of ${SHOTS[database]} none makes a 500, every refusal is JSON of one text, and no secret is in the log`, async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const server = await startServer({
      database,
      entity: USER,
      hosting: {},
      env: {
        HOST_PASSWORD: 'the operator has this one',
        ACME_CLIENT_ID: 'acme-id',
        ACME_CLIENT_SECRET: 'acme-secret-of-the-fuzzer',
        ACME_REDIRECT_URL: 'http://127.0.0.1/api/oauth/acme/callback',
      },
      auth: {
        oauth: {
          linking: 'verified',
          returnTo: [],
          providers: [{ name: 'acme', preset: 'oauth2', options: ENDPOINTS }],
        },
        refresh: { delivery: 'body' },
        lockout: { attempts: 1e6, hardAfter: 1e6 },
      },
    });
    const random = generator(seed);
    const secrets = [
      SECRET,
      API_KEY,
      GOOD,
      'the operator has this one',
      'acme-secret-of-the-fuzzer',
    ];
    for (let sent = 0; sent < SHOTS[database]; sent += ROUND) {
      // Some shot may have ended what was given out before, and the root key may have met the user himself.
      const given = await enter(server, `fuzz${sent}@x.test`);
      secrets.push(
        given.accessToken.split('.')[2]!,
        given.refreshToken.split('.')[3]!,
        given.device.split('.')[1]!,
        given.apiKey,
      );
      const found = await fire(
        server,
        Array.from({ length: ROUND }, () => shotOf(random, given)),
      );
      expect(found.slice(0, 5), `seed ${seed}`).toEqual([]);
    }
    const log = server.logs.join('');
    expect(
      secrets.filter((secret) => log.includes(secret)),
      `seed ${seed}`,
    ).toEqual([]);
    await enter(server, 'after@x.test');
    await server.close();
  }, 240_000);
});

/** Somebody new with everything that one is given. */
async function enter(server: TestServer, email: string): Promise<Given> {
  await server.register(email);
  const { status, text, body, headers } = await server.login(email);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  const made = await server.call(
    'POST',
    '/api/auth/admin/api-keys',
    { name: 'fuzz', scopes: ['posts:read'] },
    { 'X-API-Key': API_KEY },
  );
  return {
    accessToken: body.accessToken,
    refreshToken: body.refreshToken,
    device: headers.get('x-device-token')!,
    apiKey: made.body.key,
  };
}

/** Sends all of it. @returns what should not have been. */
async function fire(server: TestServer, shots: readonly Shot[]): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const wrong: string[] = [];
  let next = 0;
  const client = async () => {
    while (next < shots.length) {
      const shot = shots[next++]!;
      const complaint = judge(await send(server.url, agent, shot));
      if (complaint)
        wrong.push(
          `${complaint}: ${shot.method} ${shot.path} ${JSON.stringify(shot.headers)} ${shot.body?.toString('latin1').slice(0, 300)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  return wrong;
}

function send(
  url: string,
  agent: Agent,
  { method, path, headers, body }: Shot,
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const length = body ? [['Content-Length', String(body.length)] as const] : [];
    const sent = request(
      {
        hostname,
        port,
        method,
        path,
        agent,
        headers: ['Host', `${hostname}:${port}`, ...[...headers, ...length].flat()],
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            type: response.headers['content-type'] ?? '',
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE'
        ? resolve({ status: 400, type: 'application/json', text: '{"error":"closed"}' })
        : reject(error),
    );
    sent.end(body ?? undefined);
  });
}

function judge({
  status,
  type,
  text,
}: {
  status: number;
  type: string;
  text: string;
}): string | null {
  if (status >= 500) return `${status} ${text}`;
  if (status < 400) return null;
  if (!type.startsWith('application/json')) return `${status} of the type ${type}`;
  const keys = Object.entries(JSON.parse(text) as object);
  return keys.length === 1 && keys[0]![0] === 'error' && typeof keys[0]![1] === 'string'
    ? null
    : `${status} with ${text.slice(0, 200)}`;
}

const MANAGED = authFlows.filter(({ access }) => access === 'admin');
const OTHERS = authFlows.filter(({ access }) => access !== 'admin');
const JSON_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json\t;',
  'application/vnd.api+json',
];

/** A route of the table with something wrong in a header, in the body, in the path, or in all of them; mostly behind its guard. */
function shotOf(random: Random, given: Given): Shot {
  const { method, path, access } = random.pick(random.chance(0.3) ? MANAGED : OTHERS);
  const target = path.replaceAll(/:\w+/g, () =>
    random.pick([
      'acme',
      '7',
      'x',
      '%00',
      '%E2%80%AE',
      '..%2f',
      '9'.repeat(20),
      encodeURIComponent(random.text(12).toWellFormed()),
    ]),
  );
  const query = random.chance(0.3)
    ? `?${random.pick(['link', 'return_to', 'state', 'code', 'limit', 'cursor', 'since', 'user_id', 'ip'])}=${encodeURIComponent(random.text(20).toWellFormed())}`
    : '';
  const withBody = method !== 'GET' && random.chance(0.9);
  const headers: [string, string][] = [];
  if (withBody)
    headers.push([
      'Content-Type',
      random.chance(0.9) ? 'application/json' : random.pick([...JSON_TYPES, random.header(20)]),
    ]);
  if (access === 'admin' && random.chance(0.9)) headers.push(['X-API-Key', API_KEY]);
  if (access !== 'admin' && !path.includes('logout') && random.chance(0.5))
    headers.push(['Authorization', `Bearer ${given.accessToken}`]);
  for (let count = random.int(3); count > 0; count -= 1) headers.push(headerOf(random, given));
  return { method, path: target + query, headers, body: withBody ? bodyOf(random, given) : null };
}

function headerOf(random: Random, given: Given): [string, string] {
  const name = random.pick([
    'Authorization',
    'Authorization',
    'Authorization',
    'X-API-Key',
    'Cookie',
    'X-Device-Token',
    'X-Forwarded-For',
    'Origin',
    'X-Request-Id',
    'User-Agent',
    'Accept',
    'X-HTTP-Method-Override',
    'Content-Encoding',
    'Expect-CT',
    'X-Requested-With',
  ]);
  if (name === 'Authorization')
    return [
      name,
      random.pick([
        () => `Bearer ${random.mutate(given.accessToken)}`,
        () => `Bearer ${forged(random, given.accessToken)}`,
        () => `Basic ${random.header(10)}`,
        () => random.header(60),
        () => `${random.pick(['bearer', 'BEARER', 'Bearer\t'])} ${given.accessToken}`,
      ])(),
    ];
  if (name === 'X-API-Key')
    return [name, random.chance(0.5) ? random.mutate(given.apiKey) : random.header(40)];
  if (name === 'X-Device-Token') return [name, random.mutate(given.device)];
  if (name === 'Cookie')
    return [
      name,
      random.pick([
        () => `device=${random.mutate(given.device)}`,
        () => `refresh=${random.mutate(given.refreshToken)}`,
        () => `oauth_0123abcd=${random.header(60)}`,
        () => random.header(80),
      ])(),
    ];
  if (name === 'Content-Encoding')
    return [name, random.pick(['gzip', 'br', 'deflate', 'identity', 'x'])];
  return [name, random.header(40)];
}

/** A token under the right secret, with a header or claims that nobody signs. */
function forged(random: Random, token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
    string,
    unknown
  >;
  const key = random.pick([...Object.keys(claims), 'nbf', 'iss', 'aud', 'crit']);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url');
  const head = part(
    random.pick<unknown>([
      { alg: 'HS256', typ: 'JWT' },
      { alg: 'HS256', crit: [random.text(3)] },
      { alg: random.text(5) },
      random.json(1),
      null,
    ]),
  );
  const text = `${head}.${part(random.chance(0.2) ? random.json(2) : { ...claims, [key]: random.json(2) })}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

const FIELDS = [
  'email',
  'password',
  'token',
  'current_password',
  'refreshToken',
  'code',
  'provider',
  'name',
  'first_name',
  'username',
  'phone',
  'scopes',
  'expires_in',
  'keep_current',
  'role_id',
  'user_id',
  'jti',
  'types',
  'overlap',
  'permissions',
  '__proto__',
  'constructor',
];

function bodyOf(random: Random, given: Given): Buffer {
  const valid = {
    email: 'fuzz@x.test',
    password: GOOD,
    token: given.accessToken,
    refreshToken: given.refreshToken,
    new_password: 'weak',
    current_password: GOOD,
    code: 'x',
    name: 'x',
    scopes: ['a:b'],
    provider: 'acme',
  };
  const fields = Object.fromEntries(
    Array.from({ length: random.int(4) }, () => [random.pick(FIELDS), random.json(3)]),
  );
  const text = JSON.stringify({ ...(random.chance(0.7) && valid), ...fields });
  if (random.chance(0.6)) return Buffer.from(text);
  return random.pick([
    () => Buffer.from(random.mutate(text), 'latin1'),
    () => Buffer.from(text.slice(0, random.int(text.length))),
    () => Buffer.from(JSON.stringify(random.json(4)) ?? ''),
    () => Buffer.from(`${'['.repeat(4000)}${']'.repeat(4000)}`),
    () =>
      Buffer.from(
        `{"email":"a@x.test","email":${JSON.stringify(random.text(9))},"password":"x","password":{}}`,
      ),
    () => Buffer.from(random.text(60), 'utf16le'),
    () => Buffer.alloc(random.int(20_000), random.int(256)),
  ])();
}
