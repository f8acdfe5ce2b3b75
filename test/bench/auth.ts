/**
 * How fast auth is, as ratios against the same work without it, in one run on one machine. `npm run bench:auth`.
 * Nothing is asserted: the numbers are for people.
 */
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import bcrypt from 'bcrypt';
import { DEFAULT_LIMITS } from '../../runtime/auth/base/defaults.ts';
import { hashConcurrency } from '../../runtime/auth/passwords/passwords.ts';
import { reply } from '../../runtime/core/http/route.ts';
import type { ServerModule } from '../../runtime/core/module.ts';
import { makePasskey } from '../auth/authenticator.ts';
import { bearer, GOOD, startServer, type TestServer, USER } from '../auth/server.ts';
import { codeAt } from '../auth/totp-code.ts';

const run = promisify(execFile);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const COST = 10;

const spec = (id: string, access: string) => ({
  id,
  method: 'GET' as const,
  path: `/bench/${id}`,
  access,
  tag: 'bench',
  summary: '',
  responses: {},
});
const ROUTES: ServerModule = {
  name: 'bench',
  routes: [
    { spec: spec('open', 'public'), handle: () => reply(200, { fine: true }) },
    { spec: spec('guarded', 'user'), handle: () => reply(200, { fine: true }) },
    {
      spec: spec('file', 'public'),
      handle: async () => reply(200, { bytes: (await readFile(new URL(import.meta.url))).length }),
    },
  ],
};

const COMPANY = {
  ...USER,
  name: 'Company',
  singular: 'company',
  plural: 'companies',
  table: 'companies',
  columns: USER.columns.filter(({ name }) => name !== 'email'),
};
const ORGANIZATIONS = {
  entity: 'Company',
  table: 'companies',
  name: 'name',
  softDelete: null,
  roles: ['Owner', 'Member'],
  manage: ['Owner'],
  create: 'user',
  invitations: 86_400_000,
} as const;

const database =
  process.env['TEST_POSTGRES_URL'] && process.argv.includes('--postgres') ? 'PostgreSQL' : 'SQLite';
const folder = await mkdtemp(join(tmpdir(), 'bench-auth-'));
// As in production: a file, and limits, which only never end; their windows hold some hundred hits, as those of 600 a minute do.
const most = { count: 1e9, window: 50 };
const rateLimits = Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, most]));
const lockout = { attempts: 1e6, hardAfter: 1e6 };
const server = await startServer({
  database,
  entity: USER,
  modules: [ROUTES],
  options: { bcryptCost: COST },
  env: { RATE_LIMIT_ENABLED: 'true' },
  auth: { rateLimits, lockout, password: { hashQueue: 256 } },
  ...(database === 'SQLite' && { url: `file:${join(folder, 'bench.db')}` }),
});
const { body } = await server.register('bench@x.test');

console.log(
  `${database}, ${availableParallelism()} CPUs, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}, bcrypt cost ${COST}, ${SECONDS} s each`,
);
// `npm run bench:auth -- secondFactorGet` measures only that.
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
for (const [name, measure] of Object.entries({
  authenticatedGet,
  secondFactorGet,
  organizationGet,
  loginThroughput,
  loginTimes,
  passkeySignIn,
  loginStorm,
})) {
  if (only.length > 0 && !only.includes(name)) continue;
  const before = loadavg()[0]!;
  await measure(server, body.accessToken);
  console.log(`  (${name}: load ${before.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after)`);
}
await server.close();
await rm(folder, { recursive: true });
process.exit(0);

/** A request with a bearer token, verified and checked against the store, beside the same route without one: pairs, one after the other. */
async function authenticatedGet(on: TestServer, token: string): Promise<void> {
  const constructed = countKeyConstruction();
  const rounds: [number, number][] = [];
  for (let round = 0; round < 3 + SECONDS * 2; round += 1)
    rounds.push([
      await cost(`${on.url}/bench/open`),
      await cost(`${on.url}/bench/guarded`, bearer(token)),
    ]);
  const warm = rounds.slice(3);
  const [open, guarded] = [0, 1].map((index) => median(warm.map((round) => round[index]!))) as [
    number,
    number,
  ];
  const ratio = median(warm.map(([without, withToken]) => (100 * without) / withToken));
  console.log(
    `GET without auth ${open.toFixed(1)} µs of CPU, with a bearer token ${guarded.toFixed(1)} µs; median of ${warm.length} ratios: ${ratio.toFixed(1)} % of the speed (goal 85 %); public keys constructed: ${constructed()} (goal 0)`,
  );
}

/**
 * The same route for a session with a second factor, on a server that requires one, beside a server on which it is off: by turns,
 * in one run.
 */
async function secondFactorGet(): Promise<void> {
  const start = (mode: 'off' | 'required') =>
    startServer({
      database,
      entity: USER,
      modules: [ROUTES],
      env: { RATE_LIMIT_ENABLED: 'true' },
      auth: { rateLimits, secondFactor: { mode } },
    });
  const [off, required] = await Promise.all([start('off'), start('required')]);
  const plain = (await off.register('plain@x.test')).body.accessToken as string;
  const { ticket } = (await required.register('strong@x.test')).body;
  const { secret } = (await required.call('POST', '/api/auth/totp', { ticket })).body;
  const code = codeAt(secret, required.kernel.now());
  const confirmed = await required.call('POST', '/api/auth/totp/confirm', { ticket, code });
  const strong = confirmed.body.login.accessToken as string;
  const { ratio, rounds } = await guardedRatio([off, plain], [required, strong]);
  console.log(
    `GET with a bearer token whose session has a second factor: ${ratio.toFixed(3)} times the CPU of one where it is off, median of ${rounds} (goal 1.03)`,
  );
  await off.close();
  await required.close();
}

/** The same route for a member of an organization, beside a server without organizations. */
async function organizationGet(): Promise<void> {
  const start = (organizations: typeof ORGANIZATIONS | null) =>
    startServer({
      database,
      entity: USER,
      more: [COMPANY],
      modules: [ROUTES],
      env: { RATE_LIMIT_ENABLED: 'true' },
      auth: { rateLimits, organizations },
      // A file, as in production: there a session is read again only after a change.
      ...(database === 'SQLite' && {
        url: `file:${join(folder, `${organizations ? 'with' : 'without'}.db`)}`,
      }),
    });
  const [without, withOne] = await Promise.all([start(null), start(ORGANIZATIONS)]);
  const plain = (await without.register('plain@x.test')).body.accessToken as string;
  const { id, accessToken } = (await withOne.register('member@x.test')).body;
  const { db } = withOne.kernel.store;
  await db.insertInto('companies').values({ name: 'one' }).execute();
  await db
    .insertInto('auth_members')
    .values({ organization_id: 1, user_id: id, role: 'Owner', created_at: 0 })
    .execute();
  const { ratio, rounds } = await guardedRatio([without, plain], [withOne, accessToken]);
  console.log(
    `GET with a bearer token of a member of an organization: ${ratio.toFixed(3)} times the CPU of one on a server without organizations, median of ${rounds} (goal 1.03)`,
  );
  await without.close();
  await withOne.close();
}

/** CPU of a request to the second server, over CPU of the same request to the first one. */
async function guardedRatio(
  ...sides: readonly [readonly [TestServer, string], readonly [TestServer, string]]
): Promise<{ readonly ratio: number; readonly rounds: number }> {
  const rounds: [number, number][] = [];
  for (let round = 0; round < 3 + SECONDS * 4; round += 1) {
    const costs: [number, number] = [0, 0];
    // Each is the first one in every second round: the second one finds a warmer machine.
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const [{ url }, token] = sides[side];
      costs[side] = await cost(`${url}/bench/guarded`, bearer(token));
    }
    rounds.push(costs);
  }
  const warm = rounds.slice(3);
  return { ratio: median(warm.map(([first, second]) => second / first)), rounds: warm.length };
}

/** Logins of the server beside bcrypt alone, with as many at once as the server's semaphore lets in: by turns, in one run. */
async function loginThroughput(on: TestServer): Promise<void> {
  const hash = await bcrypt.hash(GOOD, COST);
  const width = hashConcurrency('auto');
  const rounds: [number, number][] = [];
  for (let round = 0; round < SECONDS; round += 1)
    rounds.push([
      await perSecond(width, () => bcrypt.compare(GOOD, hash)),
      await perSecond(width * 4, () => on.login('bench@x.test')),
    ]);
  const [raw, through] = [0, 1].map((index) => median(rounds.map((round) => round[index]!))) as [
    number,
    number,
  ];
  console.log(
    `bcrypt.compare alone ${raw.toFixed(1)}/s, logins ${through.toFixed(1)}/s; median of ${rounds.length} ratios: ${median(rounds.map(([alone, logins]) => (100 * logins) / alone)).toFixed(1)} % (goal 90 %)`,
  );
}

/**
 * How long a login that fails takes, and whether that tells why it failed: an address that nobody has, one that somebody has,
 * somebody without a password, and what is no address at all. In each round all of them, in an order that is drawn, so that what
 * else the machine does hits all alike. CPU of this process beside the time on the wall: others' load is not in it.
 */
async function loginTimes(on: TestServer): Promise<void> {
  await on.register('known@x.test');
  await on.kernel.store.db
    .insertInto('users')
    .values({ name: 'n', email: 'passwordless@x.test' })
    .execute();
  const kinds = {
    unknown: 'nobody@x.test',
    known: 'known@x.test',
    'password-less': 'passwordless@x.test',
    wrong: 'no address',
  };
  const times = new Map<string, { readonly wall: number[]; readonly cpu: number[] }>(
    Object.keys(kinds).map((kind) => [kind, { wall: [], cpu: [] }]),
  );
  for (let round = 0; round < 4 + SECONDS * 10; round += 1) {
    for (const [kind, email] of Object.entries(kinds).toSorted(() => Math.random() - 0.5)) {
      const [begun, before] = [performance.now(), process.cpuUsage()];
      await on.login(email, 'the wrong password');
      const { user, system } = process.cpuUsage(before);
      if (round < 4) continue;
      times.get(kind)!.wall.push(performance.now() - begun);
      times.get(kind)!.cpu.push((user + system) / 1000);
    }
  }
  for (const clock of ['wall', 'cpu'] as const) {
    const medians = [...times].map(([kind, all]) => [kind, median(all[clock])] as const);
    const all = medians.map(([, time]) => time);
    console.log(
      `a failed login, ${clock === 'cpu' ? 'CPU' : 'on the wall'}: ${medians.map(([kind, time]) => `${kind} ${time.toFixed(1)} ms`).join(', ')}; between the fastest and the slowest ${(100 * (Math.max(...all) / Math.min(...all) - 1)).toFixed(1)} % (goal 10 %)`,
    );
  }
}

/** A sign-in with a passkey: both calls, and the client's part, whose signature is made in this process too. */
async function passkeySignIn(on: TestServer): Promise<void> {
  const at = '/api/auth/passkeys';
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { body: member } = await on.register(`${algorithm}@x.test`);
    const options = await on.call('POST', `${at}/options`, {}, bearer(member.accessToken));
    const passkey = makePasskey(options.body, { algorithm });
    await on.call('POST', at, { credential: passkey.created }, bearer(member.accessToken));
    const times: number[] = [];
    for (let round = 1; round <= 20 + SECONDS * 20; round += 1) {
      const before = process.cpuUsage();
      const { challenge } = (await on.call('POST', `${at}/login/options`)).body;
      const credential = passkey.use({ challenge, counter: round });
      const { status } = await on.call('POST', `${at}/login`, { credential });
      if (status !== 200) throw new Error(`a passkey sign-in was answered with ${status}`);
      const { user, system } = process.cpuUsage(before);
      if (round > 20) times.push((user + system) / 1000);
    }
    console.log(
      `a sign-in with a passkey (${algorithm}): ${median(times).toFixed(1)} ms of CPU, the client included (goal 15 ms)`,
    );
  }
}

/** What a route that reads a file takes while 64 clients sign in, and what it takes without them. */
async function loginStorm(on: TestServer): Promise<void> {
  const alone = await fileTimes(on);
  const storm = { running: true, logins: 0 };
  const clients = Array.from({ length: 64 }, async (_, index) => {
    while (storm.running) {
      await on.login(`storm${index}@nobody.test`, 'wrong');
      storm.logins += 1;
    }
  });
  const during = await fileTimes(on);
  storm.running = false;
  await Promise.all(clients);
  console.log(
    `an unrelated route: alone p50 ${at(alone, 0.5).toFixed(1)} ms, p99 ${at(alone, 0.99).toFixed(1)} ms; during a storm of 64 clients (${(storm.logins / SECONDS).toFixed(0)} answers/s) p50 ${at(during, 0.5).toFixed(1)} ms, p99 ${at(during, 0.99).toFixed(1)} ms (goal 150 ms)`,
  );
}

async function fileTimes(on: TestServer): Promise<number[]> {
  const times: number[] = [];
  const until = Date.now() + SECONDS * 1000;
  while (Date.now() < until) {
    const begun = performance.now();
    await on.call('GET', '/bench/file');
    times.push(performance.now() - begun);
    await sleep(1);
  }
  return times.sort((a, b) => a - b);
}

/** Microseconds of this process's CPU for one request, sent by another process: what else the machine does hardly matters. */
async function cost(url: string, headers: Record<string, string> = {}): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const before = process.cpuUsage();
  const { stdout } = await run(
    process.execPath,
    [
      fileURLToPath(import.meta.resolve('autocannon')),
      '--json',
      '-c',
      '20',
      '-d',
      '1',
      ...sent,
      url,
    ],
    { maxBuffer: 1 << 24 },
  );
  const { user, system } = process.cpuUsage(before);
  const { requests, non2xx } = JSON.parse(stdout) as {
    requests: { total: number };
    non2xx: number;
  };
  if (non2xx > 0) console.log(`${url}: ${non2xx} answers were no success`);
  return (user + system) / requests.total;
}

async function perSecond(width: number, work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  const until = Date.now() + 2000;
  let count = 0;
  const worker = async () => {
    while (Date.now() < until) {
      await work();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return (count * 1000) / (performance.now() - begun);
}

function countKeyConstruction(): () => number {
  let count = 0;
  const original = crypto.createPublicKey;
  crypto.createPublicKey = ((...args: Parameters<typeof original>) => {
    count += 1;
    return original(...args);
  }) as typeof original;
  return () => {
    crypto.createPublicKey = original;
    return count;
  };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  return at(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
