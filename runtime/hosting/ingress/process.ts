import { spawn } from 'node:child_process';
import type { Socket as UdpSocket } from 'node:dgram';
import { rmSync } from 'node:fs';
import { createServer, Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import {
  type IngressCommand,
  type HandOver,
  type ProcessSettings,
  type Program,
  type NumberedCommand,
  receive,
  send,
} from './control.ts';
import { createIngress } from './ingress.ts';
import type { ListenerName } from './listeners.ts';

/** Milliseconds in which running requests can finish. */
const FINISH_TIMEOUT = 10_000;
/** Milliseconds in which the new process must listen. */
const TAKE_OVER_TIMEOUT = 12_000;

/**
 * The ingress as a separate program: it continues to serve while its server restarts. Its argument
 * is JSON: where to listen, and the socket for commands. When it replaces another ingress process,
 * that process starts it, and sends it the listeners, routes and certificates.
 */
const settings = JSON.parse(process.argv[2] ?? '{}') as ProcessSettings;
const ingress = createIngress({ ...settings, now: Date.now });
/** The last command for each certificate and challenge, to be sent to a successor. */
const known = new Map<string, IngressCommand>();
const inherited: Partial<Record<ListenerName, Server>> = {};
const inheritedStreams = new Map<string, Server | UdpSocket>();
/** The connections that an inherited listener has accepted before it is used, by its name. */
const early: (readonly [name: string, socket: Socket])[] = [];
let connections = 0;
let aloneTimer = setTimeout(() => finishAndExit(FINISH_TIMEOUT), settings.alone);

const control = createServer((socket) => {
  connections += 1;
  clearTimeout(aloneTimer);
  const routes = ingress.routes();
  send(socket, { type: 'hello', version: settings.version, pid: process.pid, routes });
  receive<IngressCommand>(socket, (command) => handleCommand(command, socket));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    connections -= 1;
    if (connections === 0)
      aloneTimer = setTimeout(() => finishAndExit(FINISH_TIMEOUT), settings.alone);
  });
});
control.on('error', () => process.exit(1));
control.listen(settings.socket);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => finishAndExit(FINISH_TIMEOUT));
if (process.send) process.on('message', inherit);

function handleCommand(command: IngressCommand, socket: Socket): void {
  if ('id' in command) {
    const { id } = command;
    return void answerCommand(command)
      .catch((error: Error) => ({ error: error.message }))
      .then((result) => send(socket, { type: 'done', id, ...result }));
  }
  if (command.type === 'leave') return finishAndExit(command.timeout);
  apply(command);
}

async function answerCommand(command: NumberedCommand) {
  if (command.type === 'drain') await ingress.drain(command.targetIds, command.timeout);
  if (command.type === 'handOver') await handOver(command.program);
  if (command.type === 'flushLog') await ingress.flushLog();
  if (command.type === 'figures') return { figures: await ingress.figures() };
  return command.type === 'listen' ? { listening: await ingress.listen() } : {};
}

function apply(command: IngressCommand): void {
  switch (command.type) {
    case 'set':
      return ingress.set(command.route);
    case 'remove':
      return ingress.remove(command.appId);
    case 'keep':
      return ingress.keep(command.appIds);
    case 'certify':
      known.set(`certify ${command.host}`, command);
      return ingress.certify(command.host, command.pair);
    case 'abandon':
      return ingress.abandon(command.targetIds);
    case 'challenge':
      known.set(`challenge ${command.token}`, command);
      return ingress.challenge(command.token, command.text);
  }
}

/**
 * Handles a message of the process that this one replaces: first the listeners one by one, then the
 * routes and certificates.
 */
function inherit(message: unknown, listener?: unknown): void {
  const given = message as HandOver | { type: 'listener'; name: string };
  if (given.type === 'listener') keepListener(given.name, listener as Server | UdpSocket);
  else {
    given.commands.forEach(apply);
    void ingress.listen(inherited, inheritedStreams).then(() => {
      process.send?.({ type: 'listens' });
      setImmediate(giveEarly);
    });
  }
}

function giveEarly(): void {
  const used = new Map([...ingress.servers(), ...ingress.streams()]);
  for (const [name, socket] of early.splice(0))
    if (!used.get(name)?.emit('connection', socket)) socket.destroy();
}

/** A listener accepts as soon as Node has received it, also when nobody listens to it. */
function keepListener(name: string, listener: Server | UdpSocket): void {
  if (listener instanceof Server)
    listener.on('connection', (socket) => {
      socket.on('error', () => socket.destroy());
      early.push([name, socket]);
    });
  if (name === 'http' || name === 'https') inherited[name] = listener as Server;
  else inheritedStreams.set(name, listener);
}

/** Starts the successor of this process. This process stops accepting when the successor serves. */
async function handOver({ command, file, settings: next }: Program): Promise<void> {
  const child = spawn(command, [file, JSON.stringify(next)], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const listens = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the new process ended with ${code}`)));
    setTimeout(
      () => reject(new Error('the new process does not listen')),
      TAKE_OVER_TIMEOUT,
    ).unref();
  });
  for (const [name, server] of ingress.servers())
    if (next.host === settings.host && next[name] === settings[name])
      child.send({ type: 'listener', name }, server);
  if (next.host === settings.host)
    for (const [name, handle] of ingress.streams()) child.send({ type: 'listener', name }, handle);
  const routes = ingress.routes().map((route): IngressCommand => ({ type: 'set', route }));
  child.send({ type: 'inherit', commands: [...known.values(), ...routes] } satisfies HandOver);
  try {
    await listens;
    ingress.release();
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

function finishAndExit(timeout: number): void {
  control.close();
  rmSync(dirname(settings.socket), { recursive: true, force: true });
  void ingress.close(timeout).finally(() => process.exit(0));
}
