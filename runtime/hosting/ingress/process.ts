import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
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

/** Milliseconds that what runs has to finish. */
const LEAVE = 10_000;
/** Milliseconds until the process that takes over must listen. */
const TAKE_OVER = 12_000;

/**
 * The ingress as a program of its own: it goes on serving while the server that it belongs to starts again. Its one
 * argument is JSON: where to listen, and the socket on which it takes commands. Started by the process whose place it
 * takes, it is sent that one's listeners and all that it knows.
 */
const settings = JSON.parse(process.argv[2] ?? '{}') as ProcessSettings;
const ingress = createIngress({ ...settings, now: Date.now });
/** Certificates and challenges, as the last command about each has said, for the process that takes over. */
const known = new Map<string, IngressCommand>();
const inherited: Partial<Record<ListenerName, Server>> = {};
let connections = 0;
let lonely = setTimeout(() => leave(LEAVE), settings.alone);

const control = createServer((socket) => {
  connections += 1;
  clearTimeout(lonely);
  const routes = ingress.routes();
  send(socket, { type: 'hello', version: settings.version, pid: process.pid, routes });
  receive<IngressCommand>(socket, (command) => obey(command, socket));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    connections -= 1;
    if (connections === 0) lonely = setTimeout(() => leave(LEAVE), settings.alone);
  });
});
control.on('error', () => process.exit(1));
control.listen(settings.socket);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => leave(LEAVE));
if (process.send) process.on('message', inherit);

function obey(command: IngressCommand, socket: Socket): void {
  if ('id' in command) {
    const { id } = command;
    return void answer(command)
      .catch((error: Error) => ({ error: error.message }))
      .then((result) => send(socket, { type: 'done', id, ...result }));
  }
  if (command.type === 'leave') return leave(command.timeout);
  apply(command);
}

async function answer(question: NumberedCommand) {
  if (question.type === 'drain') await ingress.drain(question.targetIds, question.timeout);
  if (question.type === 'handOver') await handOver(question.program);
  return question.type === 'listen' ? { listening: await ingress.listen() } : {};
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
    case 'challenge':
      known.set(`challenge ${command.token}`, command);
      return ingress.challenge(command.token, command.text);
  }
}

/** What the process gives whose place this one takes: its listeners one by one, then all that it knows. */
function inherit(message: unknown, listener?: unknown): void {
  const given = message as HandOver | { type: 'listener'; name: ListenerName };
  if (given.type === 'listener') inherited[given.name] = listener as Server;
  else {
    given.commands.forEach(apply);
    void ingress.listen(inherited).then(() => process.send?.({ type: 'listens' }));
  }
}

/** Starts a process in this one's place. It serves before this one stops accepting. */
async function handOver({ command, file, settings: next }: Program): Promise<void> {
  const child = spawn(command, [file, JSON.stringify(next)], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const listens = new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the new process ended with ${code}`)));
    setTimeout(() => reject(new Error('the new process does not listen')), TAKE_OVER).unref();
  });
  for (const [name, server] of ingress.servers())
    if (next.host === settings.host && next[name] === settings[name])
      child.send({ type: 'listener', name }, server);
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

function leave(timeout: number): void {
  control.close();
  rmSync(dirname(settings.socket), { recursive: true, force: true });
  void ingress.close(timeout).finally(() => process.exit(0));
}
