import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';
import { createOpenResponses } from '../../runtime/hosting/ingress/open-responses.ts';

/** An app in a process of its own, whose `/stream` never ends. */
const APP = `import { createServer } from 'node:http';
const server = createServer((asked, answer) => {
  if (asked.url !== '/stream') return answer.end('here');
  answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
  answer.write('data: 1\\n\\n');
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());`;

/** Many clients of it in another, 200 at a time; it says when each has had its first event. */
const CROWD = `import { connect } from 'node:net';
const [port, count] = process.argv.slice(2).map(Number);
let begun = 0, ready = 0;
const next = () => {
  if (begun++ >= count) return;
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /stream HTTP/1.1\\r\\nHost: busy.test\\r\\n\\r\\n'));
  socket.once('data', () => { ready += 1; if (ready === count) process.send('all'); next(); });
  socket.on('error', (error) => process.send(error.message));
};
for (let first = 0; first < 200; first += 1) next();
process.on('disconnect', () => process.exit());`;

describe('open responses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-open-'));
  const children: ChildProcess[] = [];
  const sockets: Socket[] = [];
  let ingress: Ingress;
  let port: number;
  let app: number;

  const start = (name: string, ...args: string[]) => {
    const child = fork(join(folder, name), args, { execArgv: [] });
    children.push(child);
    return child;
  };
  beforeAll(async () => {
    writeFileSync(join(folder, 'app.mjs'), APP);
    writeFileSync(join(folder, 'crowd.mjs'), CROWD);
    [app] = (await once(start('app.mjs'), 'message')) as [number];
    ingress = createIngress({ http: 0, https: 0, host: '127.0.0.1', now: Date.now });
    port = (await ingress.listen()).http as number;
    serve('well');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const name of ['busy', 'bound']) ingress.remove(name);
  });
  afterAll(async () => {
    await ingress.close(100);
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  function serve(name: string, maxConnections?: number): void {
    ingress.set({
      ...{ appId: name, hosts: [`${name}.test`], state: 'serving' },
      targets: [{ id: name, host: '127.0.0.1', port: app }],
      ...(maxConnections && { maxConnections }),
    });
  }

  /** @returns what comes first, and after how many milliseconds. */
  function ask(host: string, path = '/', more = ''): Promise<{ text: string; after: number }> {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}.test\r\n${more}\r\n`),
      );
      sockets.push(socket);
      socket.on('error', reject);
      socket.once('data', (data) =>
        resolve({ text: String(data), after: performance.now() - began }),
      );
    });
  }
  const best = async (host: string) =>
    Math.min(...(await Promise.all([1, 2, 3].map(() => ask(host)))).map(({ after }) => after));

  it('5,000 of one replica leave the next request and other apps as they were', async () => {
    serve('busy');
    const [said] = (await once(start('crowd.mjs', String(port), '5000'), 'message')) as [string];
    expect(said).toBe('all');
    expect((await ask('busy')).text).toMatch(/^HTTP\/1\.1 200 [^]*here$/);
    expect(await best('busy')).toBeLessThan(1000);
    expect(await best('well')).toBeLessThan(100);
    children.pop()?.kill('SIGKILL');
  });

  it('are bound for each app: above it 503 with Retry-After, for that app only, until one ends', async () => {
    serve('bound', 50);
    for (let count = 0; count < 49; count += 1) await ask('bound', '/stream');
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    expect((await ask('bound', '/stream', upgrade)).text).toMatch(/^HTTP\/1\.1 200/);
    expect((await ask('bound')).text).toMatch(
      /^HTTP\/1\.1 503 [^]*\r\nRetry-After: \d+\r\n[^]*too many open connections/,
    );
    expect((await ask('bound', '/', upgrade)).text).toMatch(
      /^HTTP\/1\.1 503 [^]*\r\nRetry-After: /,
    );
    expect((await ask('well')).text).toMatch(/^HTTP\/1\.1 200/);
    sockets[0]?.destroy();
    await expect.poll(async () => (await ask('bound')).text).toMatch(/^HTTP\/1\.1 200/);
  });

  it('of one app never take all descriptors of the process', () => {
    const open = createOpenResponses(4608);
    const enter = (app: string) => open.enter(app, 1_000_000);
    let one = 0;
    while (enter('one')) one += 1;
    expect(one).toBe(1536);
    let other = 0;
    while (enter('other')) other += 1;
    expect(one + other).toBe(1844);
    // Nearly all are gone, and who has few is served all the same.
    for (let few = 0; few < 16; few += 1) expect(enter('third')).not.toBeNull();
    expect(enter('third')).toBeNull();
  });
});
