import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { InternalError } from '../../errors.ts';
import { type Command, receive, type Report, send } from './control.ts';
import type { Ingress, IngressOptions } from './ingress.ts';
import { type AppRoute, createRouteTable } from './route-table.ts';

export interface RemoteOptions extends Pick<
  IngressOptions,
  'http' | 'https' | 'host' | 'redirect' | 'trustedProxies'
> {
  /** Where the running process is written down. */
  readonly stateFile: string;
  readonly log: Logger;
  /** How long it serves without a server, in milliseconds. */
  readonly alone: number;
  /** Whether it goes on when this server stops. */
  readonly outlives: boolean;
}

type Hello = Extract<Report, { type: 'hello' }>;

interface Link {
  readonly socket: Socket;
  readonly hello: Hello;
}

/**
 * An ingress in a process of its own. One that an earlier server has left is taken over, routes and connections and all;
 * one of another version is asked to leave when the new one listens beside it on the same ports.
 */
export function createRemoteIngress(options: RemoteOptions): Ingress {
  const table = createRouteTable();
  const certificates = new Map<string, Command>();
  const answers = createAnswers();
  const wire = createWire(options, {
    // A link that comes later, or replaces another, is told routes and certificates as they are.
    onLink: (socket) => {
      receive<Report>(socket, (report) => report.type === 'done' && answers.finish(report.id));
      for (const command of certificates.values()) send(socket, command);
      for (const route of table.all()) send(socket, { type: 'set', route });
    },
    onLoss: answers.finishAll,
  });
  return {
    listen: () => wire.open(),
    set(route: AppRoute) {
      table.set(route);
      wire.tell({ type: 'set', route });
    },
    remove(appId) {
      table.remove(appId);
      wire.tell({ type: 'remove', appId });
    },
    get: table.get,
    keep: (appIds) => wire.tell({ type: 'keep', appIds }),
    certify(host, pair) {
      certificates.set(host, { type: 'certify', host, pair });
      wire.tell({ type: 'certify', host, pair });
    },
    challenge: (token, text) => wire.tell({ type: 'challenge', token, text }),
    drain(targetIds, timeout) {
      if (!wire.linked()) return Promise.resolve();
      const { id, done } = answers.await(timeout + 1000);
      wire.tell({ type: 'drain', id, targetIds, timeout });
      return done;
    },
    close: (timeout) => wire.close(timeout),
  };
}

/** Answers that are waited for, by number. An ingress that does not answer holds nothing up for longer than it may. */
function createAnswers() {
  const waiting = new Map<number, () => void>();
  let last = 0;
  const finish = (id: number) => {
    waiting.get(id)?.();
    waiting.delete(id);
  };
  return {
    finish,
    finishAll: () => [...waiting.keys()].forEach(finish),
    await(timeout: number): { readonly id: number; readonly done: Promise<void> } {
      const id = (last += 1);
      const done = new Promise<void>((resolve) => waiting.set(id, resolve));
      void sleep(timeout, undefined, { ref: false }).then(() => finish(id));
      return { id, done };
    },
  };
}

/** The connection to the process, which is found or started, and started again when it ends. */
function createWire(
  options: RemoteOptions,
  { onLink, onLoss }: { readonly onLink: (socket: Socket) => void; readonly onLoss: () => void },
) {
  let link: Link | null = null;
  let closing = false;
  const use = (next: Link) => {
    link = next;
    onLink(next.socket);
    next.socket.on('close', () => {
      if (link !== next || closing) return;
      link = null;
      onLoss();
      options.log.error('the ingress process has ended and is started again');
      void open().catch((error: Error) =>
        options.log.error(`the ingress process cannot be started: ${error.message}`),
      );
    });
    return next.hello;
  };
  const open = async (): Promise<Hello> => {
    const version = versionOf(options);
    const found = await findRunning(options.stateFile);
    if (found?.hello.version === version) return use(found);
    const hello = use(await launch(options, version));
    if (found) send(found.socket, { type: 'leave', timeout: 30_000 });
    return hello;
  };
  return {
    open,
    linked: () => link !== null,
    tell: (command: Command) => link && send(link.socket, command),
    async close(timeout: number): Promise<void> {
      closing = true;
      if (!link) return;
      const { socket } = link;
      if (options.outlives) return void socket.end();
      send(socket, { type: 'leave', timeout });
      await Promise.race([
        new Promise((resolve) => socket.once('close', resolve)),
        sleep(timeout + 1000, undefined, { ref: false }),
      ]);
      rmSync(options.stateFile, { force: true });
    },
  };
}

/** The text of the program and where it listens: another one is another ingress. */
function versionOf({ http, https, host, redirect, trustedProxies }: RemoteOptions): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const hash = createHash('sha256').update(
    JSON.stringify([http, https, host, redirect, trustedProxies, process.version]),
  );
  for (const name of readdirSync(folder).sort())
    if (/\.[jt]s$/.test(name)) hash.update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

async function findRunning(stateFile: string): Promise<Link | null> {
  try {
    const { socket } = JSON.parse(readFileSync(stateFile, 'utf8')) as { socket: string };
    return await dial(socket);
  } catch {
    return null;
  }
}

async function launch(options: RemoteOptions, version: string): Promise<Link> {
  const { http, https, host, redirect, trustedProxies, alone, stateFile } = options;
  // A folder that only we may enter: whoever can reach the socket commands the ingress. Its name is short, as a socket's must be.
  const socket = join(mkdtempSync(join(tmpdir(), 'twofold-ingress-')), 'control');
  const program = fileURLToPath(import.meta.url).replace(/remote(\.[jt]s)$/, 'process$1');
  const child = spawn(
    process.execPath,
    [
      program,
      JSON.stringify({ version, socket, http, https, host, redirect, trustedProxies, alone }),
    ],
    { detached: true, stdio: 'ignore' },
  );
  child.unref();
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
    const link = await dial(socket).catch(() => null);
    if (link) {
      mkdirSync(dirname(stateFile), { recursive: true });
      writeFileSync(stateFile, JSON.stringify({ socket, pid: child.pid, version }), {
        mode: 0o600,
      });
      return link;
    }
    await sleep(50);
  }
  throw new InternalError('the ingress process did not start');
}

function dial(path: string): Promise<Link> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.on('error', reject);
    const first = (report: Report) => {
      if (report.type === 'hello') resolve({ socket, hello: report });
    };
    receive<Report>(socket, first);
    socket.unref();
  });
}
