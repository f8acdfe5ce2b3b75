import type { Kernel, RequestContext } from '@twofold/runtime/kernel';
import type { WebSocket } from 'ws';
import type { Core } from '../host/core.ts';
import type { EngineTerminal, TerminalSize } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';

/** A terminal that is connected to a client. */
export interface TerminalSocket {
  readonly terminal: Terminal;
  close(code: number, reason: string): void;
}

export interface TerminalSocketOptions {
  readonly core: Core;
  readonly audit: Kernel['audit'];
  readonly terminal: Terminal;
  readonly client: WebSocket;
  /** Whether the session that asked for it lives and has the permission. */
  readonly mayGoOn: () => Promise<boolean>;
}

/** Bytes of a message: more than a person pastes. */
export const MAX_MESSAGE = 1024 * 1024;
/** Bytes that wait for a slow reader. Above them the command waits. */
const MAX_WAITING = 1024 * 1024;
/** Milliseconds between two looks at the session: it ends a terminal within a second. */
const LOOK_INTERVAL = 400;
const SILENCE = 30 * 60_000;
const PING_INTERVAL = 30_000;
/** Milliseconds that a client has to answer the close frame. */
const CLOSE_TIMEOUT = 2000;
const MAX_SIZE = 1000;

/** Close codes of our own: the session is over, and nothing was typed or printed for too long. */
const SESSION_OVER = 4401;
const SILENT = 4408;

/** Runs the command of a terminal, and joins it with its client until one of them ends. */
export function createTerminalSocket(options: TerminalSocketOptions): TerminalSocket {
  const { terminal, client } = options;
  const close = (code: number, reason: string) => {
    client.close(code, reason);
    setTimeout(() => client.terminate(), CLOSE_TIMEOUT).unref();
  };
  client.on('error', () => client.terminate());
  // Input that arrives before the command runs waits in the connection.
  client.pause();
  void run(options, close);
  return { terminal, close };
}

async function run(options: TerminalSocketOptions, close: TerminalSocket['close']): Promise<void> {
  const { core, terminal, client, mayGoOn } = options;
  try {
    if (!(await mayGoOn())) return close(SESSION_OVER, 'The session is over');
    const engine = core.connection.engine();
    const { container, command, size } = terminal;
    const running = await engine.terminal(container, command, size);
    if (client.readyState !== client.OPEN) return await running.end();
    await serve(options, running, close);
  } catch (error) {
    core.log.warn({ app: terminal.app.name, error: String(error) }, 'a terminal failed');
    close(1011, reasonOf(error));
  } finally {
    client.resume();
  }
}

/** A reason has at most 123 bytes (RFC 6455, section 5.5). */
const reasonOf = (error: unknown) =>
  Buffer.from(String((error as Error).message))
    .subarray(0, 120)
    .toString('utf8')
    .replace(/\uFFFD$/, '');

async function serve(
  options: TerminalSocketOptions,
  running: EngineTerminal,
  close: TerminalSocket['close'],
): Promise<void> {
  const { client, terminal, core } = options;
  const began = core.now();
  let touched = began;
  const touch = () => void (touched = core.now());
  await record(options, 'beginTerminal', { command: terminal.command, replica: terminal.replica });
  receive(client, running, touch);
  sendOutput(client, running, touch);
  const watch = watchSession(options, () => core.now() - touched > SILENCE, close);
  client.once('close', () => void running.end());
  await ended(running);
  clearInterval(watch);
  const exit = await running.exitCode();
  if (client.readyState === client.OPEN) {
    client.send(JSON.stringify({ exit }));
    close(1000, 'The command has ended');
  }
  const seconds = Math.round((core.now() - began) / 1000);
  await record(options, 'endTerminal', { exit_code: exit, seconds });
}

const ended = ({ stream }: EngineTerminal) =>
  new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });

/** Binary frames are what is typed, text frames are about the terminal. */
function receive(client: WebSocket, running: EngineTerminal, touch: () => void): void {
  client.on('message', (data: Buffer, isBinary) => {
    touch();
    if (!isBinary) return void resize(running, data);
    if (running.stream.writable && !running.stream.write(data)) {
      client.pause();
      running.stream.once('drain', () => client.resume());
    }
  });
  client.resume();
}

async function resize(running: EngineTerminal, data: Buffer): Promise<void> {
  const size = sizeOf(data);
  if (size) await running.resize(size);
}

function sizeOf(data: Buffer): TerminalSize | null {
  try {
    const { cols, rows } = (JSON.parse(String(data)) as { resize: TerminalSize }).resize;
    return [cols, rows].every(isLength) ? { cols, rows } : null;
  } catch {
    return null;
  }
}

const isLength = (count: unknown) =>
  Number.isInteger(count) && Number(count) >= 1 && Number(count) <= MAX_SIZE;

function sendOutput(client: WebSocket, { stream }: EngineTerminal, touch: () => void): void {
  stream.on('error', () => stream.destroy());
  stream.on('data', (chunk: Buffer) => {
    touch();
    if (client.readyState !== client.OPEN) return;
    client.send(chunk, { binary: true }, () => {
      if (client.bufferedAmount < MAX_WAITING) stream.resume();
    });
    if (client.bufferedAmount >= MAX_WAITING) stream.pause();
  });
}

/** Ends the terminal after its session, and after a long silence. @returns what to stop */
function watchSession(
  { client, mayGoOn }: TerminalSocketOptions,
  isSilent: () => boolean,
  close: TerminalSocket['close'],
): NodeJS.Timeout {
  let looking = false;
  let pinged = Date.now();
  const look = async () => {
    // A session that cannot be looked at does not count as one that lives.
    if (!(await mayGoOn().catch(() => false))) close(SESSION_OVER, 'The session is over');
    looking = false;
  };
  const timer = setInterval(() => {
    const now = Date.now();
    if (isSilent()) close(SILENT, 'Nothing was typed or printed for 30 minutes');
    if (now - pinged > PING_INTERVAL) {
      pinged = now;
      client.ping();
    }
    if (looking) return;
    looking = true;
    void look();
  }, LOOK_INTERVAL);
  client.once('close', () => clearInterval(timer));
  return timer;
}

/** Says who opened what, and when it ended; never what was typed. */
async function record(
  { core, audit, terminal }: TerminalSocketOptions,
  action: string,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  const entry = { action, target: terminal.app.name, detail: { terminal: terminal.id, ...detail } };
  await audit
    ?.record(terminal.context, entry)
    .catch((error: Error) =>
      core.log.error(`a terminal is not in the audit log: ${error.message}`),
    );
}

/** A terminal that was asked for, and may be connected. */
export interface Terminal {
  readonly id: string;
  readonly app: HostedApp;
  readonly container: string;
  readonly replica: number;
  readonly command: readonly string[];
  readonly size: TerminalSize;
  readonly context: RequestContext;
  readonly ticket: Buffer;
  /** Milliseconds since 1970. */
  readonly expires: number;
}
