import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { InternalError } from '@twofold/runtime/errors';
import type { IngressCommand, ProcessSettings, Program } from './control.ts';
import type { Ingress, IngressOptions } from './ingress.ts';
import { dial, type IngressLink } from './link.ts';
import { type Listening, NOT_LISTENING } from './listeners.ts';
import type { IngressRecord, IngressRecords } from './record.ts';
import { createRouteTable } from './route-table.ts';

export interface RemoteOptions extends Pick<
  IngressOptions,
  'http' | 'https' | 'host' | 'redirect' | 'trustedProxies'
> {
  readonly records: IngressRecords;
  readonly log: Logger;
  /** How long it serves without a server, in milliseconds. */
  readonly alone: number;
  /** Whether it goes on when this server stops. */
  readonly outlives: boolean;
}

/** Milliseconds until a process that was started, or takes another's place, must answer. */
const START = 15_000;
/** Milliseconds that a process which was replaced has to finish what runs: downloads, event streams, WebSockets. */
const LEAVE = 10 * 60_000;

/**
 * An ingress in a process of its own. The one that an earlier server of the installation has left is taken over, with
 * routes, connections and all. One of another version or with other settings hands its listeners to the new process: no
 * connection is lost that way, as the kernel's queue of them is handed over too.
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
      // What is served now stays so until it is known better.
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
    close: wire.close,
  };
}

/** The connection to the process, which is found or started, and started again when it ends. */
function createWire(options: RemoteOptions, known: () => readonly IngressCommand[]) {
  const version = versionOf(options);
  /** Processes that were replaced, and still serve connections of theirs: they are told of new routes too. */
  const leaving = new Set<IngressLink>();
  let link: IngressLink | null = null;
  let listening: Listening = NOT_LISTENING;
  /** Whether the process was started here, and not found: then no server before this one has served by it. */
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
    const done = await old.ask({ type: 'handOver', program }, START);
    if (!done || done.error)
      throw new InternalError(`the ingress was not handed over: ${done?.error ?? 'no answer'}`);
    const next = await dial(program.settings.socket);
    leaving.add(old);
    old.onEnd(() => leaving.delete(old));
    use(next);
    await options.records.write(recordOf(program.settings.socket, next.hello.pid));
    old.tell({ type: 'leave', timeout: LEAVE });
    return next;
  };
  const listen = async (): Promise<Listening> => {
    let current = link ?? (await attach());
    if (current.hello.version !== version) current = await replace(current);
    listening = (await current.ask({ type: 'listen' }, START))?.listening ?? NOT_LISTENING;
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
      const question = { type: 'drain', targetIds, timeout } as const;
      await Promise.all(links().map((each) => each.ask(question, timeout + 1000)));
    },
    async close(timeout: number): Promise<void> {
      closing = true;
      for (const old of leaving) old.end();
      if (!link) return;
      const refused = Object.keys(listening.refused).length > 0;
      const idle = listening.http === null && listening.https === null;
      if (options.outlives && !idle && !(started && refused)) return link.end();
      const ended = new Promise<void>((resolve) => link?.onEnd(resolve));
      link.tell({ type: 'leave', timeout });
      await Promise.race([ended, sleep(timeout + 1000, undefined, { ref: false })]);
    },
  };
}

const recordOf = (socket: string, pid: number): IngressRecord => ({
  ...{ host: hostname(), pid, socket, http: null, https: null },
});

/** The text of the program and where it listens: another one is another ingress. */
function versionOf({ http, https, host, redirect, trustedProxies }: RemoteOptions): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const settings = [http, https, host, redirect, trustedProxies, process.version];
  const hash = createHash('sha256').update(JSON.stringify(settings));
  for (const name of readdirSync(folder).sort())
    if (/\.[jt]s$/.test(name)) hash.update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** The process of the installation that runs on this machine, if one does. */
export async function findRunning(records: IngressRecords): Promise<IngressLink | null> {
  const record = await records.read();
  if (!record?.socket || record.host !== hostname()) return null;
  return dial(record.socket).catch(() => null);
}

function programOf(options: RemoteOptions, version: string): Program {
  const { http, https, host, redirect = true, trustedProxies = [], alone } = options;
  // A folder that only we may enter: whoever can reach the socket commands the ingress. Its name is short, as a socket's must be.
  const socket = join(mkdtempSync(join(tmpdir(), 'twofold-ingress-')), 'control');
  const settings: ProcessSettings = {
    ...{ version, socket, http, https, host },
    ...{ redirect, trustedProxies, alone },
  };
  const file = fileURLToPath(import.meta.url).replace(/remote(\.[jt]s)$/, 'process$1');
  return { command: process.execPath, file, settings };
}

/** Starts a process, which does not listen before it is told to: when it has its routes. */
async function launch(options: RemoteOptions, version: string): Promise<IngressLink> {
  const { command, file, settings } = programOf(options, version);
  const { socket } = settings;
  const child = spawn(command, [file, JSON.stringify(settings)], {
    detached: true,
    stdio: 'ignore',
  });
  child.unref();
  for (const end = Date.now() + START; Date.now() < end && child.exitCode === null;) {
    const link = await dial(socket).catch(() => null);
    if (link) {
      await options.records.write(recordOf(socket, link.hello.pid));
      return link;
    }
    await sleep(50);
  }
  throw new InternalError('the ingress process did not start');
}
