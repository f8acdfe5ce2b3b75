import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTargetConnections } from '../../runtime/hosting/ingress/target-connections.ts';

/** An app in a process of its own, with room for one connection that it has not accepted yet. */
const APP = `import { createServer } from 'node:http';
const server = createServer((asked, answer) => answer.end('here'));
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());`;

describe('a target on a machine that has too much to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-starved-'));
  let app: ReturnType<typeof fork>;
  let port = 0;
  const head = { text: 'GET / HTTP/1.1\r\nHost: app.test\r\n', body: 'none' } as const;

  beforeAll(async () => {
    writeFileSync(join(folder, 'app.mjs'), APP);
    app = fork(join(folder, 'app.mjs'), { execArgv: [] });
    [port] = (await once(app, 'message')) as [number];
  });
  afterAll(() => {
    app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** @returns the status, or why there was none. */
  const ask = (
    patient: boolean,
    connections = createTargetConnections({ host: '127.0.0.1', port }, Date.now),
    movable = false,
  ) =>
    new Promise<number | string>((resolve) => {
      const shared = {
        method: 'GET',
        head: head as never,
        body: null as never,
        once: false,
        patient,
        timeout: 120_000,
        onUpload: () => true,
        trailers: () => '',
        movable: () => movable,
        onTick: () => {},
        onInterim: () => {},
      };
      connections.send({
        ...shared,
        onHead: ({ status }) => resolve(status),
        onBody: () => true,
        onEnd: () => {},
        onError: ({ message }, sent) => resolve(`${message}${sent ? ', sent' : ''}`),
      });
    }).finally(() => connections.destroy());

  it('is not given up on because this process was not let run: its connection may be there', async () => {
    const asked = ask(false);
    // Nothing else runs here for longer than a connection may take.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
    expect(await asked).toBe(200);
  });

  it('is not waited for by a request that has not reached it, once another one has taken its place', async () => {
    app.kill('SIGSTOP');
    const fillers: Socket[] = Array.from({ length: 6 }, () =>
      connect({ host: '127.0.0.1', port }).on('error', () => {}),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [staying, leaving] = [
      createTargetConnections({ host: '127.0.0.1', port }, Date.now),
      createTargetConnections({ host: '127.0.0.1', port }, Date.now),
    ];
    const [stays, leaves] = [ask(true, staying), ask(true, leaving, true)];
    for (const connections of [staying, leaving]) connections.yield();
    expect(await leaves).toBe('another target has taken its place');
    expect(leaving.empty()).toBe(true);
    for (const filler of fillers) filler.destroy();
    app.kill('SIGCONT');
    expect(await stays).toBe(200);
  });

  it('is left by a request that it has not answered when it must have ended, and another one has taken its place', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const to = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port };
    let later = 0;
    const now = () => Date.now() + later;
    const [staying, leaving] = [createTargetConnections(to, now), createTargetConnections(to, now)];
    const reached = new Promise<void>((resolve) => {
      let left = 2;
      silent.on('connection', (socket) =>
        socket.on('error', () => {}).once('data', () => (left -= 1) === 0 && resolve()),
      );
    });
    const [stays, leaves] = [ask(true, staying), ask(true, leaving, true)];
    await reached;
    for (const connections of [staying, leaving]) connections.close();
    for (later of [0, 20_000]) {
      expect([staying.empty(), leaving.empty()]).toEqual([false, false]);
      for (const connections of [staying, leaving]) connections.sweep();
    }
    expect(await leaves).toBe('another target has taken its place, sent');
    expect(staying.empty()).toBe(false);
    staying.destroy();
    expect(await stays).toContain('sent');
    silent.close();
  });

  it('is waited for while its queue of connections is full, when there is no other', async () => {
    app.kill('SIGSTOP');
    const fillers: Socket[] = Array.from({ length: 6 }, () =>
      connect({ host: '127.0.0.1', port }).on('error', () => {}),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [hasty, patient] = [ask(false), ask(true)];
    expect(await hasty).toBe('no connection within 750 ms');
    for (const filler of fillers) filler.destroy();
    app.kill('SIGCONT');
    expect(await patient).toBe(200);
  });
});
