import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, isOwnOrigin } from '@twofold/runtime/http';
import {
  hasScope,
  type Kernel,
  type Principal,
  type RequestContext,
  type RevalidateCaller,
  uuid7,
} from '@twofold/runtime/kernel';
import type { Core } from '../host/core.ts';
import { listReplicas, replicaOf } from '../host/containers.ts';
import type { TerminalSize } from '../engine/engine.ts';
import { deploymentNumber, type HostedApp } from '../records/app.ts';
import type { TerminalSocket, Terminal } from './socket.ts';
import { PROTOCOL, ticketOf } from './upgrade.ts';

/** What `POST …/terminals` takes. */
export interface TerminalFields extends Partial<TerminalSize> {
  readonly command?: readonly string[];
  readonly replica?: number;
}

/** What its caller needs to open the WebSocket. */
export interface OpenedTerminal {
  readonly id: string;
  readonly ticket: string;
  readonly expires_at: string;
}

/** The terminals of apps, in the process that operates them. */
export interface Terminals {
  /** @throws AppError 400, 409 or 429 */
  open(app: HostedApp, call: Call<TerminalFields>): Promise<OpenedTerminal>;
  /** Takes over the connection of a WebSocket's opening request. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all of them. */
  close(): void;
}

export interface TerminalOptions {
  readonly core: Core;
  readonly audit: Kernel['audit'];
  readonly appUrl: string | undefined;
  /** Null while nothing authenticates callers. */
  readonly revalidate: () => RevalidateCaller | null;
}

const TICKET_TIME = 30_000;
const MAX_TERMINALS = 10;
const PERMISSION = 'apps:exec';
const SHELL = ['sh'];
const PATH = /^\/api\/apps\/([^/]+)\/terminals\/([^/?]+)/;

export function createTerminals(options: TerminalOptions): Terminals {
  const { core, appUrl } = options;
  const waiting = new Map<string, Terminal>();
  const open = new Set<TerminalSocket>();
  const countOf = (appId: string) =>
    [...waiting.values(), ...[...open].map(({ terminal }) => terminal)].filter(
      ({ app, expires, id }) => app.id === appId && (!waiting.has(id) || expires > core.now()),
    ).length;
  const take = (request: IncomingMessage): Terminal => {
    const [, name, id = ''] = PATH.exec(request.url ?? '') ?? [];
    const terminal = waiting.get(id);
    const ticket = digest(ticketOf(request) ?? '');
    if (!terminal || terminal.app.name !== name || !timingSafeEqual(terminal.ticket, ticket))
      throw failure.unauthenticated('Invalid or expired ticket');
    waiting.delete(id);
    if (terminal.expires <= core.now()) throw failure.unauthenticated('Invalid or expired ticket');
    return terminal;
  };
  return {
    async open(app, { body, context }) {
      for (const { id, expires } of waiting.values()) if (expires <= core.now()) waiting.delete(id);
      const place = await placeOf(core, app, body.replica ?? 0);
      if (countOf(app.id) >= MAX_TERMINALS)
        throw failure.tooMany(`${app.name} has ${MAX_TERMINALS} terminals already: close one`);
      const ticket = randomBytes(32).toString('base64url');
      const terminal: Terminal = {
        id: uuid7(core.now()),
        app,
        container: place,
        replica: body.replica ?? 0,
        context,
        command: commandOf(body),
        size: { cols: body.cols ?? 80, rows: body.rows ?? 24 },
        ticket: digest(ticket),
        expires: core.now() + TICKET_TIME,
      };
      waiting.set(terminal.id, terminal);
      return { id: terminal.id, ticket, expires_at: new Date(terminal.expires).toISOString() };
    },
    accept(request, socket, head) {
      socket.on('error', () => socket.destroy());
      try {
        if (!isOwnOrigin(request.headers, appUrl))
          throw failure.forbidden('A terminal is opened only from a page of the server itself');
        const terminal = take(request);
        void connect(options, { terminal, request, socket, head, open });
      } catch (error) {
        refuse(socket, error as AppError);
      }
    },
    close: () => open.forEach((socket) => socket.close(1001, 'The server is stopping')),
  };
}

interface Connecting {
  readonly terminal: Terminal;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly open: Set<TerminalSocket>;
}

/** The library is loaded with the first terminal. */
async function connect(
  { core, audit, revalidate }: TerminalOptions,
  { terminal, request, socket, head, open }: Connecting,
): Promise<void> {
  const { WebSocketServer } = await import('ws');
  const { createTerminalSocket, MAX_MESSAGE } = await import('./socket.ts');
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE,
    handleProtocols: () => PROTOCOL,
  });
  const mayGoOn = () => isStillAllowed(revalidate(), terminal.context);
  server.handleUpgrade(request, socket, head, (client) => {
    const connected = createTerminalSocket({ core, audit, terminal, client, mayGoOn });
    open.add(connected);
    client.once('close', () => open.delete(connected));
  });
}

/** The container of a replica that runs. */
async function placeOf(core: Core, app: HostedApp, replica: number): Promise<string> {
  deploymentNumber(app);
  const containers = await listReplicas(core, app);
  const found = containers.find(
    (container) => replicaOf(container) === replica && container.state === 'running',
  );
  if (found) return found.id;
  if (containers.some(({ state }) => state === 'running'))
    throw failure.badRequest(`replica ${replica} does not run: the first one is 0`);
  throw failure.conflict('App is not running');
}

function commandOf({ command = SHELL }: TerminalFields): readonly string[] {
  if (command.some((word) => word.includes('\0')))
    throw failure.badRequest('command must not contain a NUL byte');
  return command;
}

/**
 * Whether the session that asked for the terminal lives, and has the permission. Its access token
 * may have expired meanwhile: the session decides.
 */
async function isStillAllowed(
  revalidate: RevalidateCaller | null,
  context: RequestContext,
): Promise<boolean> {
  if (!revalidate) return true;
  const now = await revalidate(context, { session: true });
  if (now === null || !isSameCaller(now, context.principal)) return false;
  if (now.kind === 'host') return true;
  const held = now.kind === 'user' ? now.permissions : now.kind === 'api_key' ? now.scopes : [];
  return hasScope(held, PERMISSION) || hasScope(held, 'host:manage');
}

function isSameCaller(one: Principal, other: Principal): boolean {
  const nameOf = (principal: Principal) =>
    JSON.stringify([
      principal.kind,
      'id' in principal ? principal.id : null,
      'sessionId' in principal ? principal.sessionId : null,
    ]);
  return nameOf(one) === nameOf(other);
}

const digest = (ticket: string) => createHash('sha256').update(ticket).digest();

function refuse(socket: Duplex, { status = 500, message }: AppError): void {
  const body = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

const REASONS: Readonly<Record<number, string>> = { 401: 'Unauthorized', 403: 'Forbidden' };
