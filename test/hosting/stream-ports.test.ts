import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { StreamTarget } from '../../runtime/hosting/ingress/stream-port.ts';
import { openTcpPort } from '../../runtime/hosting/ingress/tcp-port.ts';
import { openUdpPort } from '../../runtime/hosting/ingress/udp-port.ts';

const host = '127.0.0.1';
const common = { host, port: 0, inherited: undefined, now: Date.now };
const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

async function bound(): Promise<UdpSocket> {
  const socket = createSocket('udp4').bind(0, host);
  await once(socket, 'listening');
  ends.push(() => socket.close());
  return socket;
}

/** A container that answers each datagram with itself. */
async function echo(): Promise<StreamTarget> {
  const socket = await bound();
  socket.on('message', (data, { port, address }) => socket.send(data, port, address));
  return { id: 'a', host, port: socket.address().port };
}

describe('a port of an app', () => {
  it('has no more connections than the app may have, and counts them until they end', async () => {
    let open = 0;
    const enter = () => (open < 1 ? ((open += 1), () => void (open -= 1)) : null);
    const upstream = createServer(
      { allowHalfOpen: true },
      (socket) => void socket.resume().write('hello'),
    ).listen(0, host);
    await once(upstream, 'listening');
    const target = { id: 'a', host, port: (upstream.address() as AddressInfo).port };
    const port = await openTcpPort({ ...common, enter, targets: async () => [target] });
    ends.push(() => (port.cut(), port.release(), upstream.close()));
    const visit = () => connect((port.handle.address() as AddressInfo).port, host);
    const first = visit();
    expect(String((await once(first, 'data'))[0])).toBe('hello');
    const second = visit().on('error', () => {});
    await once(second, 'close');
    expect([second.bytesRead, open]).toEqual([0, 1]);
    first.destroy();
    await once(first, 'close');
    // The container still has its side of the connection.
    expect(open).toBe(1);
    port.cut();
    await expect.poll(() => open).toBe(0);
  });

  it('serves no more UDP clients than the app may have', async () => {
    const target = await echo();
    let open = 0;
    const enter = () => (open < 1 ? ((open += 1), () => void (open -= 1)) : null);
    const port = await openUdpPort({ ...common, enter, targets: async () => [target] });
    const [first, second] = [await bound(), await bound()];
    const to = (port.handle as UdpSocket).address().port;
    first.send('one', to, host);
    expect(String((await once(first, 'message'))[0])).toBe('one');
    second.on('message', () => expect.unreachable());
    second.send('two', to, host);
    first.send('three', to, host);
    expect(String((await once(first, 'message'))[0])).toBe('three');
    port.release();
    expect(open).toBe(0);
  });

  it('that is closed drops the datagrams that waited for the app', async () => {
    const target = await echo();
    let asked = () => {};
    const waits = new Promise<void>((resolve) => (asked = resolve));
    let answer: (found: readonly StreamTarget[]) => void = () => {};
    const targets = () => {
      asked();
      return new Promise<readonly StreamTarget[]>((resolve) => (answer = resolve));
    };
    let entered = 0;
    const enter = () => ((entered += 1), () => {});
    const port = await openUdpPort({ ...common, enter, targets });
    (await bound()).send('late', (port.handle as UdpSocket).address().port, host);
    await waits;
    port.release();
    answer([target]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([entered, port.active()]).toEqual([0, 0]);
  });
});
