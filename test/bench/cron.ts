/**
 * How many runs of schedules of each second begin twice, while the server is killed again and again: it should be none.
 * `TEST_DOCKER_SOCKET=… node test/bench/cron.ts [RUNS] [KILLS]`. Each run notes its time in a volume as its first act.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { importImage } from '../engines/import-image.ts';
import { services } from '../engines/services.ts';
import { startServer, token } from '../hosting/server.ts';

const [runs = 1000, kills = 3] = process.argv.slice(2).map(Number);
const SCHEDULES = ['a', 'b', 'c', 'd'];
const socket = process.env[services.docker.variable] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'tf-cron-'));
const program = fileURLToPath(new URL('../hosting/killable-server.ts', import.meta.url));
mkdirSync(join(folder, 'tmp'));

let child: ChildProcess;
let url = '';

async function start(): Promise<void> {
  child = fork(program, [socket, folder], {
    env: { ...process.env, TMPDIR: join(folder, 'tmp') },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  url = await new Promise<string>((resolve) =>
    child.on('message', (message: { url?: string }) => message.url && resolve(message.url)),
  );
}

async function kill(): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function call(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(`${url}/api/apps${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

async function begun(): Promise<string[]> {
  const command = ['cat', '/data/begun'];
  const { stdout = '' } = await call('POST', '/shop/exec', { command, timeout_s: 30 });
  return (stdout as string).split('\n').filter(Boolean);
}

const image = await importImage(socket, 'twofold-test/web:1');
await start();
await call('POST', '', { name: 'shop', image, volumes: [{ name: 'data', path: '/data' }] });
const cron = SCHEDULES.map((name) => ({
  ...{ name, schedule: '* * * * * *' },
  command: ['sh', '-c', `echo "${name} $TWOFOLD_SCHEDULED_AT" >> /data/begun`],
}));
await call('PATCH', '/shop', { cron });
const from = Date.now();
for (let killed = 0, lines = await begun(); lines.length < runs; lines = await begun()) {
  if (killed < kills && lines.length >= ((killed + 1) * runs) / (kills + 1)) {
    killed += 1;
    await kill();
    await sleep(2000);
    await start();
    console.log(`killed ${killed} after ${lines.length} runs`);
  }
  await sleep(1000);
}
await call('PATCH', '/shop', { cron: [] });
for (let total = 1; total > 0; await sleep(200))
  ({ total } = await call('GET', '/shop/runs?status=running'));
const lines = await begun();
const { skipped, runs: last } = await call('GET', '/shop/runs');
const twice = lines.length - new Set(lines).size;
console.log(
  `${lines.length} runs of ${SCHEDULES.length} schedules over ${kills} kills in`,
  Math.round((Date.now() - from) / 1000),
  's',
);
console.log(`begun twice: ${twice}; skipped while the last one went on:`, skipped);
console.log(
  'of the last 100:',
  Object.entries(Object.groupBy(last as { status: string }[], ({ status }) => status))
    .map(([status, some]) => `${some?.length} ${status}`)
    .join(', '),
);
await kill();
const server = await startServer({ socket, folder });
await server.end();
rmSync(folder, { recursive: true, force: true });
process.exit(twice === 0 ? 0 : 1);
