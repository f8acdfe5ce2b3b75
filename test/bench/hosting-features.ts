import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCommand } from '../engines/command.ts';
import { selfSigned } from '../hosting/ingress-client.ts';
import { cpuOf } from './hosting-process.ts';
import { median, say, verdict } from './hosting-report.ts';

/** How often and how long each server has requests. The rounds of `warmUp` do not count. */
interface Rounds {
  readonly warmUp: number;
  readonly count: number;
  readonly seconds: number;
}

const BESIDE_CADDY: Rounds = { warmUp: 1, count: 5, seconds: 2 };
/** A small difference needs many rounds that follow each other closely. */
const LOG: Rounds = { warmUp: 5, count: 20, seconds: 1 };
const LOG_PROCESSES = 5;
const FIRST_PORT = 28_180;
const HOST = 'app.test';
/** A page as frameworks write them: it is compressed to about a fifth. */
const PAGE_ROWS = 300;

interface Runner {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
}

interface Sample {
  readonly rate: number;
  /** Microseconds of CPU for a request. */
  readonly cpu: number;
}

/**
 * What HTTP/2, compression, and the access log with a limit cost. Figures of requests are counted in every case: they
 * cannot be switched off, so they are a part of the baseline as well.
 */
export async function benchFeatures(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
  const children: ChildProcess[] = [];
  const start = (name: string, port: number, command: string, args: readonly string[]): Runner => {
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const child = spawn(command, args, { stdio: 'ignore', env });
    children.push(child);
    return { name, port, pid: child.pid as number };
  };
  try {
    await compareAll(folder, start);
  } finally {
    for (const child of children) child.kill();
    await Promise.all(
      children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
    );
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareAll(
  folder: string,
  start: (name: string, port: number, command: string, args: readonly string[]) => Runner,
): Promise<void> {
  const [wrk, h2load, caddy] = ['wrk', 'h2load', 'caddy'].map((name) => findCommand(name));
  const port = (offset: number) => FIRST_PORT + offset;
  const pair = selfSigned(HOST);
  writeFileSync(join(folder, 'key.pem'), pair.key);
  writeFileSync(join(folder, 'certificate.pem'), pair.certificate);
  start('target', port(0), process.execPath, [writeTarget(folder, port(0))]);
  const node = (name: string, ...ingresses: readonly Ingress[]) =>
    start(name, ingresses[0]!.port, process.execPath, [writeOurs(folder, name, ingresses)]);
  const plain = node('plain', { port: port(1), full: false });
  const peer =
    caddy &&
    start('Caddy', port(5), caddy, [
      ...['run', '--adapter', 'caddyfile', '--config', writeCaddy(folder, port(5))],
    ]);
  await Promise.all([plain, ...(peer ? [peer] : [])].map((each) => untilOpen(each.port)));
  if (!wrk) return say('\nwrk is not installed: nothing is measured');
  const byWrk =
    (path: string, ...headers: string[]) =>
    (runner: Runner, seconds: number) =>
      runWrk(wrk, runner.port, path, headers, seconds);
  say('\n| | seen | goal | |\n|---|---:|---:|---|');
  await benchLog(node, byWrk('/'));
  if (!peer) return say('\nCaddy is not installed: nothing to compare with');
  const [own, theirs] = await measure([plain, peer], byWrk('/page', 'Accept-Encoding: gzip'));
  const gzip = (own as Sample).cpu / (theirs as Sample).cpu;
  verdict('gzip: CPU beside Caddy', `${gzip.toFixed(2)} ×`, '≤ 2 ×', gzip <= 2);
  if (!h2load) return say('\nh2load is not installed (nghttp2-client): HTTP/2 is not measured');
  const secure = [plain, peer].map((each) => ({ ...each, port: each.port + 1 }));
  const [ours, caddys] = await measure(secure, (runner, seconds) =>
    runH2load(h2load, runner.port, seconds),
  );
  const ratio = (ours as Sample).rate / (caddys as Sample).rate;
  const byCpu = (caddys as Sample).cpu / (ours as Sample).cpu;
  const rates = `${ratio.toFixed(2)} × (${byCpu.toFixed(2)} × for the same CPU)`;
  verdict('HTTP/2: requests/s beside Caddy', rates, '≥ 1 ×', ratio >= 1);
}

/**
 * What the log and the limit cost. Two processes of the same server differ by up to a fifth for as long as they run,
 * so the ingress with both and the one with neither are in one process, and have requests by turns.
 */
async function benchLog(
  start: (name: string, ...ingresses: readonly Ingress[]) => Runner,
  load: Load,
): Promise<void> {
  const costs: Sample[] = [];
  for (let count = 0; count < LOG_PROCESSES; count += 1) {
    const port = FIRST_PORT + 10 + 4 * count;
    const full = port + 2;
    const bare = start(`log-${count}`, { port, full: false }, { port: full, full: true });
    await Promise.all([port, full].map(untilOpen));
    const runners = [bare, { ...bare, port: full }];
    const [without, with_] = (await measure(runners, load, LOG)) as [Sample, Sample];
    costs.push({ rate: 1 - with_.rate / without.rate, cpu: with_.cpu / without.cpu - 1 });
    process.kill(bare.pid);
  }
  const rate = median(costs.map((cost) => cost.rate));
  const cpu = median(costs.map((cost) => cost.cpu));
  const seen = `${percent(cpu)} of CPU (${percent(rate)} of requests/s)`;
  verdict('access log and limit, with metrics', seen, '≤ 10 %', cpu <= 0.1);
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Asks a server for as long as it is told. @returns how many requests were answered. */
type Load = (runner: Runner, seconds: number) => Promise<number>;

/** By turns, another one first each time. @returns the median of each. */
async function measure(
  runners: readonly Runner[],
  load: Load,
  { warmUp, count, seconds } = BESIDE_CADDY,
): Promise<Sample[]> {
  const samples = runners.map((): Sample[] => []);
  for (let round = -warmUp; round < count; round += 1)
    for (let turn = 0; turn < runners.length; turn += 1) {
      const index = (turn + round + warmUp) % runners.length;
      const runner = runners[index] as Runner;
      const before = cpuOf(runner.pid);
      const requests = await load(runner, seconds);
      const cpu = ((cpuOf(runner.pid) - before) / requests) * 1e6;
      if (round >= 0) (samples[index] as Sample[]).push({ rate: requests / seconds, cpu });
    }
  return samples.map((of) => ({
    rate: median(of.map(({ rate }) => rate)),
    cpu: median(of.map(({ cpu }) => cpu)),
  }));
}

async function runWrk(
  wrk: string,
  port: number,
  path: string,
  headers: readonly string[],
  seconds: number,
): Promise<number> {
  const all = [`Host: ${HOST}`, ...headers].flatMap((header) => ['-H', header]);
  const args = ['-t1', '-c32', `-d${seconds}`, ...all, `http://127.0.0.1:${port}${path}`];
  const text = await outputOf(wrk, args);
  const wrong = /(?:Non-2xx|Socket errors).*/.exec(text)?.[0];
  if (wrong) say(`  ${port}: ${wrong}`);
  return Number(/(\d+) requests in/.exec(text)?.[1] ?? Number.NaN);
}

/** Eight connections with four requests at once on each. */
async function runH2load(h2load: string, port: number, seconds: number): Promise<number> {
  const to = [`--connect-to=127.0.0.1:${port}`, `https://${HOST}:${port}/`];
  const text = await outputOf(h2load, ['-t1', '-c8', '-m4', '-D', String(seconds), ...to]);
  const [, done, failed] = /(\d+) succeeded, (\d+) failed/.exec(text) ?? [];
  if (failed !== '0') say(`  ${port}: ${failed} failed`);
  return Number(done ?? Number.NaN);
}

async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  return (await Array.fromAsync(child.stdout.setEncoding('utf8'))).join('');
}

function writeTarget(folder: string, port: number): string {
  const program = `import { createServer } from 'node:http';
const small = Buffer.from('x'.repeat(64));
const rows = Array.from({ length: ${PAGE_ROWS} }, (_, i) => '<li class="item"><a href="/items/' + i * 7919 + '">Item ' + i + '</a></li>');
const page = Buffer.from('<!doctype html><ul>' + rows.join('\\n') + '</ul>');
createServer(({ url }, response) => {
  const body = url === '/page' ? page : small;
  response.writeHead(200, { 'Content-Type': url === '/page' ? 'text/html' : 'text/plain', 'Content-Length': body.length }).end(body);
}).listen(${port}, '127.0.0.1');`;
  return write(folder, 'target.mjs', program);
}

/** An ingress of ours: HTTP at the port, HTTPS at the next one. */
interface Ingress {
  readonly port: number;
  /** With the log and the limit. */
  readonly full: boolean;
}

/** A program with these ingresses. `gzip` is what the client accepts, so it is what is compressed. */
function writeOurs(folder: string, name: string, ingresses: readonly Ingress[]): string {
  const module = new URL('../../runtime/hosting/ingress/ingress.ts', import.meta.url);
  const program = `import { readFileSync } from 'node:fs';
import { createIngress } from ${JSON.stringify(fileURLToPath(module))};
const key = readFileSync('${folder}/key.pem', 'utf8');
const certificate = readFileSync('${folder}/certificate.pem', 'utf8');
for (const { options, rules } of ${JSON.stringify(ingresses.map((each) => setup(folder, name, each)))}) {
  const ingress = createIngress({ ...options, now: Date.now });
  await ingress.listen();
  ingress.certify('${HOST}', { key, certificate });
  ingress.set({ appId: 'a', name: 'a', hosts: ['${HOST}'], state: 'serving', rules, targets: [{ id: 'x', host: '127.0.0.1', port: ${FIRST_PORT} }] });
}`;
  return write(folder, `${name}.mjs`, program);
}

function setup(folder: string, name: string, { port, full }: Ingress) {
  const accessLog = full ? join(folder, `${name}-requests`) : null;
  if (accessLog) mkdirSync(accessLog);
  return {
    options: { http: port, https: port + 1, host: '127.0.0.1', redirect: false, accessLog },
    rules: full
      ? { rateLimit: { count: 1e9, window: 1000, burst: 1e9, by: 'ip' } }
      : { compress: true },
  };
}

function writeCaddy(folder: string, port: number): string {
  const site = `bind 127.0.0.1
 encode gzip
 reverse_proxy 127.0.0.1:${FIRST_PORT} {
  transport http {
   keepalive_idle_conns_per_host 128
  }
 }`;
  const tls = `tls ${folder}/certificate.pem ${folder}/key.pem`;
  const text = `{\n admin off\n auto_https off\n}\nhttp://${HOST}:${port} {\n ${site}\n}\nhttps://${HOST}:${port + 1} {\n ${tls}\n ${site}\n}\n`;
  return write(folder, 'Caddyfile', text);
}

/** Both listeners answer. */
async function untilOpen(port: number): Promise<void> {
  const asks = [
    () => request({ port, host: '127.0.0.1', headers: { host: HOST }, agent: false }).end(),
    () =>
      connect({ port: port + 1, host: '127.0.0.1', servername: HOST, rejectUnauthorized: false }),
  ];
  for (const [index, ask] of asks.entries())
    for (let tries = 0; ; tries += 1) {
      const sent = ask();
      const open = await Promise.race([
        once(sent, index === 0 ? 'response' : 'secureConnect').then(() => true),
        once(sent, 'error').then(() => false),
      ]).catch(() => false);
      sent.destroy();
      if (open) break;
      if (tries === 100) throw new Error(`nothing listens on port ${port + index}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
