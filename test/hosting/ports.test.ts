import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

/** HTTP for the probe; TCP and UDP answer with the word and the host, and what they got. */
const program = `
const net = require('node:net'), dgram = require('node:dgram'), os = require('node:os');
const say = (data) => process.env.WORD + ' ' + os.hostname() + ' ' + data;
net.createServer({ allowHalfOpen: true }, (s) => {
  let all = ''; s.on('data', (d) => (all += d)).on('end', () => s.end(say(all))).on('error', () => {});
}).listen(7000);
const u = dgram.createSocket('udp4', (d, from) => u.send(say(d), from.port, from.address)).bind(7001);
require('node:http').createServer((_, r) => r.end(process.env.WORD)).listen(process.env.PORT);
process.on('SIGTERM', () => process.exit(0));`;

describeEachEngine('ports', ({ socket }) => {
  let server: TestServer;
  let image: string;
  let tcp: number;
  let udp: number;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/node:1');
    server = await startServer({ socket });
    [tcp, udp] = [await freePort(), await freePort()];
  });
  afterAll(() => server?.end());

  const create = (fields: object) =>
    server.api('POST', '/api/apps', { image, command: ['node', '-e', program], ...fields });
  const ports = () => [
    { port: tcp, target: 7000 },
    { port: udp, target: 7001, protocol: 'udp' },
  ];
  /** Sends the text, ends its own half, and reads until the end. */
  const speak = (text: string, pause = 0): Promise<string> =>
    new Promise((resolve, reject) => {
      let all = '';
      const client = connect({ port: tcp, host: '127.0.0.1', allowHalfOpen: true }, () => {
        client.write(text);
        setTimeout(() => client.end(), pause);
      });
      client.on('data', (data) => (all += data)).on('end', () => resolve(all));
      client.on('error', reject);
    });
  const ask = (client: ReturnType<typeof createSocket>, text: string): Promise<string> =>
    new Promise((resolve) => {
      client.once('message', (data) => resolve(String(data)));
      client.send(text, udp, '127.0.0.1');
    });

  it('lead to the app by TCP and UDP, one UDP client to one replica, and switch without a lost connection', async () => {
    const { status, body } = await create({
      ...{ name: 'db', ports: ports(), replicas: 2, env: { WORD: 'one' } },
    });
    expect([status, body.ports]).toEqual([201, ports()]);
    expect(await speak('hello')).toMatch(/^one \S+ hello$/);
    const hosts = await Promise.all([speak('a', 300), speak('b', 300)]);
    expect(new Set(hosts.map((text) => text.split(' ')[1])).size).toBe(2);

    const client = createSocket('udp4');
    const answers = [];
    for (let i = 0; i < 5; i += 1) answers.push(await ask(client, String(i)));
    expect(new Set(answers.map((text) => text.replace(/ \d$/, ''))).size).toBe(1);

    const long = speak('begun before', 1500);
    await server.api('PATCH', '/api/apps/db', { env: { WORD: 'two' } });
    const state = { deploying: true };
    const deployed = server
      .api('POST', '/api/apps/db/deploy', {})
      .finally(() => (state.deploying = false));
    const spoken: string[] = [];
    while (state.deploying) spoken.push(await speak('during'));
    expect((await deployed).status).toBe(200);
    expect(spoken.filter((text) => !/^(one|two) \S+ during$/.test(text))).toEqual([]);
    expect(await long).toMatch(/^one \S+ begun before$/);
    expect(await speak('after')).toMatch(/^two/);
    expect(await ask(client, 'after')).toMatch(/^two/);
    client.close();
  });

  it('are refused outside of the range and when they are taken, and are open to the allowed only', async () => {
    const other = createServer();
    const busy = await new Promise<number>((resolve) =>
      other.listen(0, '0.0.0.0', () => resolve((other.address() as { port: number }).port)),
    );
    const change = async (list: object[]) => {
      const { status, body } = await server.api('PATCH', '/api/apps/db', { ports: list });
      return [status, body.error];
    };
    const one = { port: tcp, target: 7000 };
    expect(await change([{ port: 443, target: 1 }])).toEqual([
      400,
      'ports: 443 is outside of hosting.ingress.ports, 1024-65535',
    ]);
    expect(await change([one, one])).toEqual([400, 'ports must not name one port twice']);
    expect(await change([{ ...one, allow: ['here'] }])).toEqual([
      400,
      expect.stringContaining('here is neither an address nor a range'),
    ]);
    expect(await change([one, { port: busy, target: 1 }])).toEqual([
      409,
      `Port ${busy}/tcp is already in use`,
    ]);
    other.close();
    const taken = await create({ name: 'second', ports: [one] });
    expect([taken.status, taken.body.error]).toEqual([409, `Port ${tcp}/tcp is already in use`]);

    const shut = [{ ...one, allow: ['192.0.2.0/24'] }];
    await server.api('PATCH', '/api/apps/db?apply=true', { ports: shut, replicas: 1 });
    expect(await speak('let me in').catch(() => '')).toBe('');
    await server.api('PATCH', '/api/apps/db?apply=true', {
      ports: [{ ...one, allow: ['127.0.0.1'] }],
    });
    expect(await speak('let me in')).toMatch(/^two \S+ let me in$/);
    await server.api('DELETE', '/api/apps/db');
    await expect(speak('gone')).rejects.toThrow('ECONNREFUSED');
  });
});
