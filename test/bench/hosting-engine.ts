import { execFileSync, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { findCommand } from '../engines/command.ts';
import { importImage } from '../engines/import-image.ts';
import { startLoad } from '../hosting/load.ts';
import { scraper, startServer, token } from '../hosting/server.ts';
import { benchLogs } from './hosting-logs.ts';
import { cpuOf } from './hosting-process.ts';
import { load, median, ms, say, verdict } from './hosting-report.ts';

const PARALLEL = 4;

/** A server in a process of its own: what the caller does is no part of its figures. */
export interface Hosting {
  readonly url: string;
  readonly ingress: number;
  readonly pid: number;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>;
}

/** Deploys, lists, stats and logs on one engine. */
export async function benchEngine({ kind, socket }: TestEngine, apps: number): Promise<void> {
  say(`\n## ${kind}, ${load()}\n`);
  const [first, second] = [
    await localImage(socket, 'twofold-test/web:1'),
    await localImage(socket, 'twofold-test/web:2'),
  ];
  const node = await importImage(socket, 'twofold-test/node:1');
  const folder = mkdtempSync(join(tmpdir(), 'tf-hosting-'));
  await prepare(socket, folder);
  const child = fork(
    fileURLToPath(new URL('../hosting/killable-server.ts', import.meta.url)),
    [socket, folder],
    { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  try {
    const hosting = await connect(child);
    say('| | seen | goal | |\n|---|---:|---:|---|');
    await deploys(hosting, { kind, socket, images: [first, second] });
    await benchLogs(hosting, { kind, socket, image: node });
    await manyApps(hosting, { image: first, count: apps });
    await takeAway(hosting);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    // Whatever happened: its apps are taken away.
    await (await startServer({ socket, folder })).end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Under a name that no registry is asked for: how fast one says that it does not know an image is none of our figures. */
async function localImage(
  socket: string,
  name: 'twofold-test/web:1' | 'twofold-test/web:2',
): Promise<string> {
  const [repo, tag] = `localhost/${name}`.split(':');
  await callEngine(socket, {
    method: 'POST',
    path: `/images/${await importImage(socket, name)}/tag?repo=${repo}&tag=${tag}`,
  });
  return `localhost/${name}`;
}

/** The engines of the tests give a network 62 addresses: one with more is there before the first app. */
async function prepare(socket: string, folder: string): Promise<void> {
  const server = await startServer({ socket, folder });
  const { value } = (await server.kernel.store.db
    .selectFrom('hosting_settings')
    .select('value')
    .where('key', '=', 'instance')
    .executeTakeFirstOrThrow()) as { value: string };
  await server.stop();
  const name = `twofold-${value}`;
  const Subnet = `10.${200 + (process.pid % 50)}.${4 * (process.pid % 60)}.0/22`;
  await engineJson(socket, {
    method: 'POST',
    path: '/networks/create',
    json: {
      Name: name,
      Driver: 'bridge',
      Labels: { 'twofold.instance': value },
      IPAM: { Config: [{ Subnet, Gateway: Subnet.replace('0/22', '1') }] },
    },
  });
}

async function connect(child: ChildProcess): Promise<Hosting> {
  const { url, ingress } = await new Promise<{ url: string; ingress: number }>(
    (resolve, reject) => {
      child.on(
        'message',
        (message: { url?: string; ingress?: number }) =>
          message.url && resolve(message as { url: string; ingress: number }),
      );
      child.once('exit', () => reject(new Error('the server did not start')));
    },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });
  const call: Hosting['call'] = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        url + path,
        {
          method,
          agent,
          headers: {
            // The page of figures has a token of its own.
            ...(path === '/metrics' ? scraper : { authorization: `Bearer ${token}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
        },
        (answer) => {
          let text = '';
          answer
            .setEncoding('utf8')
            .on('data', (chunk) => (text += chunk))
            .on('error', reject)
            .on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        },
      );
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  return { url, ingress, pid: child.pid as number, call };
}

async function deploys(
  { call, ingress }: Hosting,
  { kind, socket, images }: { kind: string; socket: string; images: readonly string[] },
): Promise<void> {
  await ok(call('POST', '/api/apps', { name: 'bench', image: images[0] }));
  const deploy = (turn: number) =>
    ok(call('POST', '/api/apps/bench/deploy', { image: images[turn % 2] }));
  const running = startLoad({ port: ingress, host: 'bench.apps.test', clients: 16 });
  const loaded = await several(10, deploy);
  const { ok: answered, failures } = await running.stop();
  const quiet = await several(5, deploy);
  verdict(
    'failed requests in ten deploys under 16 clients',
    `${failures.length} of ${answered + failures.length}`,
    '0',
    failures.length === 0,
  );
  for (const failure of failures.slice(0, 3)) say(`| failed: ${failure} | | | |`);
  say(
    `| a deploy, from the call to the old one gone: under load, without | ${ms(median(loaded))}, ${ms(median(quiet))} | | ${runAlone(kind, socket, images[0] as string)} |`,
  );
  await ok(call('DELETE', '/api/apps/bench'));
}

/** What the engine's own command takes to start one container, and nothing else. */
function runAlone(kind: string, socket: string, image: string): string {
  const docker = findCommand('docker');
  if (kind !== 'docker' || !docker) return '';
  const runs = [1, 2, 3].map(() => {
    const began = performance.now();
    const id = execFileSync(docker, ['-H', `unix://${socket}`, 'run', '-d', image], {
      encoding: 'utf8',
    }).trim();
    const took = performance.now() - began;
    execFileSync(docker, ['-H', `unix://${socket}`, 'rm', '-f', id], { stdio: 'ignore' });
    return took;
  });
  return `\`docker run -d\` alone: ${ms(median(runs))}`;
}

/** Many apps that run: the list of them, and what they use. */
async function manyApps(
  hosting: Hosting,
  { image, count }: { image: string; count: number },
): Promise<void> {
  const began = performance.now();
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  await inParallel(names, (name) =>
    ok(hosting.call('POST', '/api/apps', { name, image, env: { SETTING: 'a value' } })),
  );
  const each = (performance.now() - began) / count;
  const list = await cost(hosting, '/api/apps');
  const stats = await cost(hosting, '/metrics');
  const apps = (JSON.parse(list.text) as { apps: unknown[] }).apps.length;
  const measured = new Set(
    [...stats.text.matchAll(/^twofold_app_memory_bytes\{app="([^"]+)",replica="0"\} [1-9]/gm)].map(
      ([, name]) => name,
    ),
  ).size;
  say(`| an app created, started and served, ${PARALLEL} at a time | ${ms(each)} | | ${load()} |`);
  verdict(
    `list of ${apps} apps: CPU of the server (time of the call)`,
    `${ms(list.cpu)} (${ms(list.time)})`,
    '≤ 2 ms',
    apps === count && list.cpu <= 2,
  );
  verdict(
    `stats of ${measured} running apps: CPU of the server (time of the call)`,
    `${ms(stats.cpu)} (${ms(stats.time)})`,
    '≤ 20 ms',
    measured === count && stats.cpu <= 20,
  );
  say(`| stats of one of them | ${ms((await cost(hosting, '/api/apps/app-7/stats')).time)} | | |`);
}

/** Deletes every app, several at a time. */
async function takeAway(hosting: Hosting): Promise<void> {
  const { apps } = JSON.parse((await ok(hosting.call('GET', '/api/apps'))).text) as {
    apps: { name: string }[];
  };
  await inParallel(apps, ({ name }) => ok(hosting.call('DELETE', `/api/apps/${name}`)));
}

async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, next));
}

/** Milliseconds of a call: of CPU in the server, and until its answer was there. */
async function cost(
  { call, pid }: Hosting,
  path: string,
): Promise<{ cpu: number; time: number; text: string }> {
  await several(50, () => call('GET', path));
  const before = cpuOf(pid);
  const count = 200;
  const times = await several(count, () => call('GET', path));
  const cpu = ((cpuOf(pid) - before) / count) * 1000;
  return { cpu, time: median(times), text: (await ok(call('GET', path))).text };
}

async function several(count: number, work: (turn: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 1; turn <= count; turn += 1) {
    const began = performance.now();
    await work(turn);
    times.push(performance.now() - began);
  }
  return times;
}

async function ok(
  answer: Promise<{ status: number; text: string }>,
): Promise<{ status: number; text: string }> {
  const { status, text } = await answer;
  if (status >= 400) throw new Error(`${status} ${text}`);
  return { status, text };
}
