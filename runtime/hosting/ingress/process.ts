import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { type Command, receive, send } from './control.ts';
import { createIngress, type Ingress } from './ingress.ts';

/**
 * The ingress as a program of its own: it goes on serving while the server that it belongs to starts again. Its one
 * argument is JSON: where to listen, and the socket on which it takes commands.
 */
interface Settings {
  readonly version: string;
  readonly socket: string;
  readonly http: number;
  readonly https: number;
  readonly host: string;
  readonly redirect: boolean;
  readonly trustedProxies: readonly string[];
  /** How long it serves without a server, in milliseconds. */
  readonly alone: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const ingress = createIngress({
  ...settings,
  now: Date.now,
  reusePort: process.platform === 'linux',
});
const ports = await ingress.listen();
let connections = 0;
let lonely = setTimeout(() => leave(10_000), settings.alone);

const control = createServer((socket) => {
  connections += 1;
  clearTimeout(lonely);
  send(socket, { type: 'hello', version: settings.version, ...ports });
  receive<Command>(socket, (command) => obey(ingress, command, socket));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    connections -= 1;
    if (connections === 0) lonely = setTimeout(() => leave(10_000), settings.alone);
  });
});
control.on('error', () => process.exit(1));
control.listen(settings.socket);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(10_000));

function obey(to: Ingress, command: Command, socket: Socket): void {
  switch (command.type) {
    case 'set':
      return to.set(command.route);
    case 'remove':
      return to.remove(command.appId);
    case 'keep':
      return to.keep(command.appIds);
    case 'certify':
      return to.certify(command.host, command.pair);
    case 'challenge':
      return to.challenge(command.token, command.text);
    case 'drain':
      return void to
        .drain(command.targetIds, command.timeout)
        .then(() => send(socket, { type: 'done', id: command.id }));
    case 'leave':
      return leave(command.timeout);
  }
}

function leave(timeout: number): void {
  control.close();
  rmSync(dirname(settings.socket), { recursive: true, force: true });
  void ingress.close(timeout).finally(() => process.exit(0));
}
