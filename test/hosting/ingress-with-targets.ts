import {
  createServer,
  request,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import {
  connect,
  createServer as createPlain,
  type AddressInfo,
  type Server as PlainServer,
  type Socket,
} from 'node:net';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createIngress, type Ingress } from '../../runtime/hosting/ingress/ingress.ts';

/**
 * An ingress on a port of its own, for the tests of a file, and targets for its one app. It registers the hooks of the
 * file.
 *
 * @example
 * const { target, ask } = ingressWithTargets();
 */
export function ingressWithTargets() {
  let ingress: Ingress;
  let port = 0;
  /** How far the clock is ahead; or where it stands still. */
  const clock: { ahead: number; stopped: number | null } = { ahead: 0, stopped: null };
  const servers: (Server | PlainServer)[] = [];
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    ingress = createIngress({
      http: 0,
      https: 0,
      host: '127.0.0.1',
      now: () => (clock.stopped ?? Date.now()) + clock.ahead,
      hold: 400,
    });
    port = (await ingress.listen()).http as number;
  });
  afterAll(() => ingress.close(1000));
  afterEach(() => {
    Object.assign(clock, { ahead: 0, stopped: null });
    ingress.remove('app');
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function open(server: Server | PlainServer) {
    servers.push(server);
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: at } = server.address() as AddressInfo;
    ingress.set({
      appId: 'app',
      hosts: ['app.test'],
      state: 'serving',
      targets: [{ id: `t-${at}`, host: '127.0.0.1', port: at }],
    });
  }
  const target = (listener: RequestListener) => open(createServer(listener));
  /** A target that says what it likes: the text for each head of a request that it gets. */
  const liar = (answer: (asked: string, socket: Socket) => string | Buffer | null) =>
    open(
      createPlain((socket) =>
        socket.on('data', (data) => {
          const text = answer(data.toString('latin1'), socket);
          if (text !== null) socket.write(text);
        }),
      ),
    );

  function ask({
    path = '/',
    method = 'GET',
    headers = {},
    body,
  }: { path?: string; method?: string; headers?: Record<string, string>; body?: string } = {}) {
    return new Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }>(
      (resolve, reject) => {
        const sent = request(
          {
            host: '127.0.0.1',
            port,
            path,
            method,
            agent: false,
            headers: { ...headers, host: 'app.test' },
          },
          (answer) => {
            let text = '';
            answer
              .setEncoding('latin1')
              .on('data', (chunk) => (text += chunk))
              .on('error', reject)
              .on('end', () =>
                resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }),
              );
          },
        );
        sent.on('error', reject).end(body);
      },
    );
  }

  /** Writes bytes as they are, and reads until the connection ends or the time is over. */
  function raw(text: string, wait = 3000): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
      let answer = '';
      const timer = setTimeout(() => socket.destroy(), wait);
      socket
        .setEncoding('latin1')
        .on('data', (chunk) => (answer += chunk))
        .on('error', () => {})
        .on('close', () => (clearTimeout(timer), resolve(answer)));
    });
  }

  return { clock, port: () => port, sockets, open, target, liar, ask, raw };
}
