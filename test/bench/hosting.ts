/**
 * What hosting costs, beside what others cost in the same run: `node test/bench/hosting.ts`. Needs the engines of
 * `test/engines` for the parts that deploy; `wrk` and `caddy` are used when they are installed. Prints ratios; asserts
 * nothing, since the machine may be busy.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engines } from '../engines/available.ts';
import { findCommand } from '../engines/command.ts';
import { importImage } from '../engines/import-image.ts';
import { startLoad } from '../hosting/load.ts';
import { startServer } from '../hosting/server.ts';

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const time = async (work: () => Promise<unknown>) => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const say = (line: string) => void process.stdout.write(`${line}\n`);

await ingress();
for (const { kind, socket } of engines) await engine(kind, socket);
process.exit(0);

async function engine(kind: string, socket: string): Promise<void> {
  say(`\n${kind}`);
  const images = [await importImage(socket, 'twofold-test/web:1'), await importImage(socket, 'twofold-test/web:2')];
  const server = await startServer({ socket });
  try {
    await server.api('POST', '/api/apps', { name: 'bench', image: images[0] });
    const load = startLoad({ port: server.ingress, host: 'bench.apps.test', clients: 16 });
    const deploys: number[] = [];
    for (let turn = 1; turn <= 10; turn += 1) deploys.push(await time(() => server.api('POST', '/api/apps/bench/deploy', { image: images[turn % 2] })));
    const { ok, failures } = await load.stop();
    say(`  ten deploys under load: ${failures.length} failed of ${ok + failures.length} requests; a deploy ${ms(median(deploys))} (fastest ${ms(Math.min(...deploys))})`);
    const quiet: number[] = [];
    for (let turn = 1; turn <= 5; turn += 1) quiet.push(await time(() => server.api('POST', '/api/apps/bench/deploy', { image: images[turn % 2] })));
    say(`  a deploy without load: ${ms(median(quiet))} (fastest ${ms(Math.min(...quiet))})${cliRun(kind, socket, images[0] as string)}`);
    say(`  stats: ${ms(median(await several(20, () => server.api('GET', '/api/apps/bench/stats'))))}`);
    await logs(server, images[0] as string);
    await lists(server);
  } finally {
    await server.end();
  }
}

/** What the engine's own command takes for one container, for a measure. */
function cliRun(kind: string, socket: string, image: string): string {
  const docker = findCommand('docker');
  if (kind !== 'docker' || !docker) return '';
  const runs = [1, 2, 3].map(() => {
    const began = performance.now();
    const id = execFileSync(docker, ['-H', `unix://${socket}`, 'run', '-d', image], { encoding: 'utf8' }).trim();
    const took = performance.now() - began;
    execFileSync(docker, ['-H', `unix://${socket}`, 'rm', '-f', id], { stdio: 'ignore' });
    return took;
  });
  return `; docker run -d alone ${ms(Math.min(...runs))}`;
}

async function logs(server: Awaited<ReturnType<typeof startServer>>, image: string): Promise<void> {
  const script = 'i=0; while [ $i -lt 100000 ]; do echo "this is line number $i of quite a long output, as apps print it all day long"; i=$((i+1)); done; exec httpd -f -p $PORT -h /www';
  await server.api('POST', '/api/apps', { name: 'flood', image, command: ['sh', '-c', script] });
  let lines = 0;
  const took = await time(async () => {
    const { body } = await server.api('GET', '/api/apps/flood/logs?tail=100000');
    lines = body.split('\n').length - 1;
  });
  say(`  logs: ${lines} lines in ${ms(took)}: ${Math.round(lines / took)} thousand a second; tail=100 ${ms(median(await several(10, () => server.api('GET', '/api/apps/flood/logs'))))}`);
  await server.api('DELETE', '/api/apps/flood');
}

async function lists(server: Awaited<ReturnType<typeof startServer>>): Promise<void> {
  for (let index = 0; index < 200; index += 1) await server.api('POST', '/api/apps', { name: `app-${index}` });
  say(`  list of 200 apps: ${ms(median(await several(50, () => server.api('GET', '/api/apps'))))} over HTTP, its JSON parsed by the caller`);
}

async function several(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn += 1) times.push(await time(work));
  return times;
}

/** One process each for the target, the proxies and the load, as it is in real life. */
async function ingress(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tf-bench-'));
  const children: ChildProcess[] = [];
  const start = (command: string, args: string[]) => void children.push(spawn(command, args, { stdio: 'ignore', env: { ...process.env, HOME: folder } }));
  const port = { target: 28_080, ours: 28_081, caddy: 28_082, node: 28_083 };
  const program = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const ours = fileURLToPath(new URL('../../runtime/hosting/ingress/ingress.ts', import.meta.url));
  const target = `import { createServer } from 'node:http'; const body = Buffer.alloc(64, 'x'); createServer((q, r) => { r.writeHead(200, { 'Content-Length': 64 }); r.end(body); }).listen(${port.target}, '127.0.0.1');`;
  const run = `import { createIngress } from ${JSON.stringify(ours)}; const i = createIngress({ http: ${port.ours}, https: 0, host: '127.0.0.1', now: Date.now }); await i.listen(); i.set({ appId: 'a', hosts: ['app.test'], state: 'serving', targets: [{ id: 'x', host: '127.0.0.1', port: ${port.target} }] });`;
  const plain = `import { createServer, request, Agent } from 'node:http'; const agent = new Agent({ keepAlive: true }); createServer((q, r) => q.pipe(request({ agent, host: '127.0.0.1', port: ${port.target}, path: q.url, method: q.method, headers: q.headers }, (a) => { r.writeHead(a.statusCode, a.headers); a.pipe(r); }))).listen(${port.node}, '127.0.0.1');`;
  start(process.execPath, [program('target.mjs', target)]);
  start(process.execPath, [program('ours.mjs', run)]);
  start(process.execPath, [program('plain.mjs', plain)]);
  const caddy = findCommand('caddy');
  if (caddy) start(caddy, ['run', '--adapter', 'caddyfile', '--config', program('Caddyfile', `{\n admin off\n auto_https off\n}\nhttp://:${port.caddy} {\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:${port.target}\n}\n`)]);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  try {
    say('ingress, requests a second (best of two rounds, interleaved)');
    const best = new Map<string, number>();
    for (let round = 0; round < 2; round += 1) {
      for (const [name, number] of Object.entries(port)) {
        if (name === 'caddy' && !caddy) continue;
        best.set(name, Math.max(best.get(name) ?? 0, await rate(number)));
      }
    }
    const mine = best.get('ours') ?? 0;
    for (const [name, value] of best) say(`  ${name.padEnd(8)} ${Math.round(value)}${name === 'ours' || value === 0 ? '' : ` (ours is ${(mine / value).toFixed(2)} of it)`}`);
  } finally {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function rate(port: number): Promise<number> {
  const wrk = findCommand('wrk');
  if (wrk) {
    const text = execFileSync(wrk, ['-t1', '-c32', '-d4', '-H', 'Host: app.test', `http://127.0.0.1:${port}/`], { encoding: 'utf8' });
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0);
  }
  const load = startLoad({ port, host: 'app.test', clients: 32 });
  await new Promise((resolve) => setTimeout(resolve, 4000));
  return (await load.stop()).ok / 4;
}
