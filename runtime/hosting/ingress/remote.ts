import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@twofold/runtime/kernel';
import { InternalError } from '@twofold/runtime/errors';
import { socketFolder } from '../socket-folder.ts';
import type { IngressCommand, Program, IngressRecord, IngressRecords } from './control.ts';
import type { Ingress, IngressOptions } from './ingress.ts';
import { launchBy, startProgram } from './launcher.ts';
import { dial, type IngressLink } from './link.ts';
import { type Listening, NOT_LISTENING } from './listeners.ts';
import { isRunning } from '../running.ts';
import { createRouteTable } from './route-table.ts';

export interface RemoteOptions extends Omit<IngressOptions, 'now' | 'hold'> {
  readonly records: IngressRecords;
  readonly log: Logger;
  /** Milliseconds that the process continues to serve without a server. */
  readonly alone: number;
  /** The Unix socket of the launcher that starts the process; null: this server starts it. */
  readonly launcher?: string | null;
}

/** Milliseconds in which a new process must answer. */
const START_TIMEOUT = 15_000;
/** Milliseconds in which a process answers a question about its requests. */
const REPLY_TIMEOUT = 2000;
/** Milliseconds in which a replaced process can finish downloads, event streams and WebSockets. */
const FINISH_TIMEOUT = 10 * 60_000;

/**
 * An ingress in a separate process. A process that an earlier server of this installation has left
 * is used again, with its routes and connections. If its version or settings differ, it hands its
 * listeners to a new process. No connection is lost by that, because the kernel's queue of waiting
 * connections moves with the listeners.
 */
export function createRemoteIngress(options: RemoteOptions): Ingress {
  const table = createRouteTable();
  const certificates = new Map<string, IngressCommand>();
  const wire = createWire(options, () => [
    ...certificates.values(),
    ...table.all().map((route) => ({ type: 'set', route }) as const),
  ]);
  return {
    async attach() {
      // Keeps the routes of the process until newer ones are known.
      for (const route of (await wire.attach()).hello.routes)
        if (!table.get(route.appId)) table.set(route);
    },
    listen: wire.listen,
    set(route) {
      table.set(route);
      wire.tell({ type: 'set', route });
    },
    remove(appId) {
      table.remove(appId);
      wire.tell({ type: 'remove', appId });
    },
    get: table.get,
    keep(appIds) {
      for (const { appId } of table.all()) if (!appIds.includes(appId)) table.remove(appId);
      wire.tell({ type: 'keep', appIds });
    },
    certify(host, pair) {
      certificates.set(host, { type: 'certify', host, pair });
      wire.tell({ type: 'certify', host, pair });
    },
    challenge: (token, text) => wire.tell({ type: 'challenge', token, text }),
    drain: wire.drain,
    abandon: (targetIds) => wire.tell({ type: 'abandon', targetIds }),
    figures: wire.figures,
    flushLog: wire.flushLog,
    close: wire.close,
  };
}

/**
 * The connection to the ingress process. The process is found or started, and started again when it
 * ends.
 */
function createWire(options: RemoteOptions, known: () => readonly IngressCommand[]) {
  const version = versionOf(options);
  /** Replaced processes that still serve some connections. They get new routes too. */
  const leaving = new Set<IngressLink>();
  let link: IngressLink | null = null;
  let listening: Listening = NOT_LISTENING;
  /** Whether this server started the process, so that no earlier server has used it. */
  let started = false;
  let closing = false;

  const links = () => (link ? [link, ...leaving] : [...leaving]);
  const use = (next: IngressLink): IngressLink => {
    link = next;
    for (const command of known()) next.tell(command);
    next.onEnd(() => {
      if (link !== next || closing) return;
      link = null;
      options.log.error('the ingress process has ended and is started again');
      void attach()
        .then(listen)
        .catch((error: Error) =>
          options.log.error(`the ingress process cannot be started: ${error.message}`),
        );
    });
    return next;
  };
  const attach = async (): Promise<IngressLink> => {
    const found = await findRunning(options.records);
    started = !found;
    return use(found ?? (await launch(options, version)));
  };
  const replace = async (old: IngressLink): Promise<IngressLink> => {
    const program = programOf(options, version);
    const done = await old.ask({ type: 'handOver', program }, START_TIMEOUT);
    if (!done || done.error)
      throw new InternalError(`the ingress was not handed over: ${done?.error ?? 'no answer'}`);
    const next = await dial(program.settings.socket);
    leaving.add(old);
    old.onEnd(() => leaving.delete(old));
    use(next);
    await options.records.write(recordOf(program.settings.socket, next.hello.pid));
    old.tell({ type: 'leave', timeout: FINISH_TIMEOUT });
    return next;
  };
  const listen = async (): Promise<Listening> => {
    let current = link ?? (await attach());
    if (current.hello.version !== version) current = await replace(current);
    listening = (await current.ask({ type: 'listen' }, START_TIMEOUT))?.listening ?? NOT_LISTENING;
    const record = await options.records.read();
    if (record) await options.records.write({ ...record, ...listening });
    return listening;
  };
  return {
    attach,
    listen,
    tell(command: IngressCommand) {
      for (const each of links()) each.tell(command);
    },
    async drain(targetIds: readonly string[], timeout: number) {
      const command = { type: 'drain', targetIds, timeout } as const;
      await Promise.all(links().map((each) => each.ask(command, timeout + 1000)));
    },
    figures: async () => (await link?.ask({ type: 'figures' }, REPLY_TIMEOUT))?.figures ?? {},
    async flushLog() {
      await Promise.all(links().map((each) => each.ask({ type: 'flushLog' }, REPLY_TIMEOUT)));
    },
    async close(timeout: number): Promise<void> {
      closing = true;
      for (const old of leaving) old.end();
      if (!link) return;
      const refused = Object.keys(listening.refused).length > 0;
      const idle = listening.http === null && listening.https === null;
      if (!idle && !(started && refused)) return link.end();
      const ended = new Promise<void>((resolve) => link?.onEnd(resolve));
      link.tell({ type: 'leave', timeout });
      await Promise.race([ended, sleep(timeout + 1000, undefined, { ref: false })]);
    },
  };
}

const recordOf = (socket: string, pid: number): IngressRecord => ({
  host: hostname(),
  pid,
  socket,
  http: null,
  https: null,
});

/**
 * A hash of the program's text and of its settings. A process with another version has to be
 * replaced.
 */
function versionOf({
  records: _records,
  log: _log,
  alone: _alone,
  launcher: _launcher,
  ...rest
}: RemoteOptions) {
  const folder = dirname(fileURLToPath(import.meta.url));
  const hash = createHash('sha256').update(JSON.stringify([rest, process.version]));
  for (const name of readdirSync(folder).sort())
    if (/\.[jt]s$/.test(name)) hash.update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Connects to the installation's ingress process, if it runs on this machine. */
export async function findRunning(records: IngressRecords): Promise<IngressLink | null> {
  const record = await records.read();
  if (!record?.socket || record.host !== hostname()) return null;
  return dial(record.socket).catch(() => null);
}

function programOf(options: RemoteOptions, version: string): Program {
  const { records: _records, log: _log, launcher: _launcher, ...listens } = options;
  // Everyone who can open the socket can command the ingress.
  const socket = join(socketFolder('ingress'), 'control');
  const file = fileURLToPath(import.meta.url).replace(/remote(\.[jt]s)$/, 'process$1');
  return { command: process.execPath, file, settings: { ...listens, version, socket } };
}

/** Starts a process. It listens only when it gets the command: after it has the routes. */
async function launch(options: RemoteOptions, version: string): Promise<IngressLink> {
  const program = programOf(options, version);
  const { socket } = program.settings;
  const end = Date.now() + START_TIMEOUT;
  const pid = await startBy(options.launcher ?? null, program, end);
  while (Date.now() < end && isRunning(pid)) {
    const link = await dial(socket).catch(() => null);
    if (link) {
      await options.records.write(recordOf(socket, link.hello.pid));
      return link;
    }
    await sleep(50);
  }
  throw new InternalError('the ingress process did not start');
}

/** The launcher is a service too, and may be starting at this moment. */
async function startBy(launcher: string | null, program: Program, end: number): Promise<number> {
  if (launcher === null) return startProgram(program);
  try {
    return await launchBy(launcher, program);
  } catch (error) {
    const { message } = error as Error;
    if (Date.now() >= end) throw new InternalError(`the launcher at ${launcher}: ${message}`);
    await sleep(200);
    return startBy(launcher, program, end);
  }
}
