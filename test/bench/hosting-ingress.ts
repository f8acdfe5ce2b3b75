import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../engines/command.ts';
import { startLoad } from '../hosting/load.ts';
import { peers, targetServer, type Peer, type Program } from './hosting-peers.ts';
import { cpuOf } from './hosting-process.ts';
import { median, say, verdict } from './hosting-report.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CLIENTS = 32;
const FIRST_PORT = 28_080;

interface Sample {
  readonly rate: number;
  /** Microseconds of CPU for a request, all threads and processes of the program. */
  readonly cpu: number;
}

/** Ours beside the others, by turns. One process each for the target, the way in and the load, as it is in real life. */
export async function benchIngress(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
  const children: ChildProcess[] = [];
  const start = ({ command, args, env }: Program) => {
    const child = spawn(command, args, {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, ...env },
    });
    children.push(child);
    return child.pid as number;
  };
  try {
    const setting = { folder, target: FIRST_PORT, firstPort: FIRST_PORT + 1 };
    start(targetServer(setting));
    const running = peers(setting).map((peer) => ({ ...peer, pid: start(peer) }));
    await Promise.all(running.map(({ port }) => untilAnswers(port)));
    await compare(running);
    print(await measure(running), running);
  } finally {
    for (const child of children) child.kill();
    await Promise.all(
      children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
    );
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Started extends Peer {
  readonly pid: number;
}

async function measure(running: readonly Started[]): Promise<Map<string, Sample[]>> {
  for (const peer of running) await sample(peer, 2);
  const samples = new Map(running.map(({ name }) => [name, [] as Sample[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    // Another one is first each time: nobody always comes after the same neighbour.
    for (let turn = 0; turn < running.length; turn += 1) {
      const peer = running[(turn + round) % running.length] as Started;
      (samples.get(peer.name) as Sample[]).push(await sample(peer, SECONDS));
    }
  }
  return samples;
}

async function sample({ port, pid, title }: Started, seconds: number): Promise<Sample> {
  const before = cpuOf(pid);
  const requests = await load(port, seconds, title);
  return { rate: requests / seconds, cpu: ((cpuOf(pid) - before) / requests) * 1e6 };
}

/** @returns how many requests were answered, all of them well. */
async function load(port: number, seconds: number, title: string): Promise<number> {
  const wrk = findCommand('wrk');
  if (wrk) {
    const child = spawn(
      wrk,
      ['-t1', `-c${CLIENTS}`, `-d${seconds}`, '-H', 'Host: app.test', `http://127.0.0.1:${port}/`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const text = (await Array.fromAsync(child.stdout.setEncoding('utf8'))).join('');
    if (/Non-2xx|Socket errors/.test(text))
      say(`  ${title}: ${/(Non-2xx|Socket errors).*/.exec(text)?.[0]}`);
    return Number(/(\d+) requests in/.exec(text)?.[1] ?? Number.NaN);
  }
  const running = startLoad({ port, host: 'app.test', clients: CLIENTS });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { ok, failures } = await running.stop();
  if (failures.length > 0) say(`  ${title}: ${failures.length} failed: ${failures[0]}`);
  return ok;
}

/** All answer the same, and tell the app the same. */
async function compare(running: readonly Started[]): Promise<void> {
  const told = new Map<string, string>();
  for (const { title, port } of running) {
    const [page, seen] = [await ask(port, 'app.test', '/'), await ask(port, 'app.test', '/seen')];
    told.set(title, JSON.stringify([page.status, page.text, seen.text]));
  }
  const [first] = told.values();
  const other = [...told].filter(([, text]) => text !== first);
  say(
    other.length === 0
      ? `  all ${told.size} answer the same: ${first}`
      : `  not the same: ${[...told].map(([title, text]) => `${title} ${text}`).join(', ')}`,
  );
}

function print(samples: ReadonlyMap<string, Sample[]>, running: readonly Started[]): void {
  const row = (name: string) => {
    const of = samples.get(name) as Sample[];
    return { rate: median(of.map(({ rate }) => rate)), cpu: median(of.map(({ cpu }) => cpu)) };
  };
  const ours = row('ours');
  say(
    `\n| ${CLIENTS} connections, 64 bytes, median of ${ROUNDS} rounds of ${SECONDS} s by turns | requests/s | µs of CPU a request | ours: requests/s | ours: requests for the same CPU |\n|---|---:|---:|---:|---:|`,
  );
  for (const { name, title, command } of running) {
    const { rate, cpu } = row(name);
    say(
      `| ${title}${versionOf(name, command)} | ${Math.round(rate)} | ${cpu.toFixed(1)} | ${name === 'ours' ? '' : `${(ours.rate / rate).toFixed(2)} ×`} | ${name === 'ours' ? '' : `${(cpu / ours.cpu).toFixed(2)} ×`} |`,
    );
  }
  if (!samples.has('caddy')) return say('\nCaddy is not installed: nothing to compare with');
  const caddy = row('caddy');
  say('\n| | seen | goal | |\n|---|---:|---:|---|');
  verdict(
    'ingress: requests/s beside Caddy',
    `${(ours.rate / caddy.rate).toFixed(2)} ×`,
    '≥ 1.5 ×',
    ours.rate >= 1.5 * caddy.rate,
  );
  verdict(
    'ingress: requests for the same CPU beside Caddy',
    `${(caddy.cpu / ours.cpu).toFixed(2)} ×`,
    '≥ 1.5 ×',
    caddy.cpu >= 1.5 * ours.cpu,
  );
}

function versionOf(name: string, command: string): string {
  const args: Record<string, string[]> = {
    caddy: ['version'],
    'caddy-1': ['version'],
    nginx: ['-v'],
    haproxy: ['-v'],
  };
  if (!args[name]) return `, Node ${process.versions.node}`;
  // nginx says it on the other stream.
  const text = execFileSync('sh', ['-c', '"$0" "$@" 2>&1', command, ...args[name]], {
    encoding: 'utf8',
  });
  return ` ${/\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? ''}`;
}

function ask(port: number, host: string, path: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, agent: false, headers: { host } },
      (answer) => {
        let text = '';
        answer
          .setEncoding('utf8')
          .on('data', (chunk) => (text += chunk))
          .on('error', reject)
          .on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject).end();
  });
}

async function untilAnswers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await ask(port, 'app.test', '/').catch(() => null))?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  say(`  nobody answers on port ${port}`);
}
