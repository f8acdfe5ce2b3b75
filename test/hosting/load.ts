import { Agent, request } from 'node:http';
import { connect } from 'node:net';

/** What became of the requests of a load. */
export interface LoadResult {
  readonly ok: number;
  readonly failures: readonly string[];
  /** Distinct bodies seen. */
  readonly bodies: ReadonlySet<string>;
}

/**
 * Keeps `clients` connections busy until stopped: each asks, reads the whole answer, and asks again. Anything but a 200
 * is a failure.
 */
export function startLoad(options: {
  port: number;
  host: string;
  clients: number;
  path?: (turn: number) => string;
  pause?: number;
}): { stop(): Promise<LoadResult> } {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients });
  const failures: string[] = [];
  const bodies = new Set<string>();
  let ok = 0;
  const state = { running: true };
  const client = async (offset: number) => {
    for (let turn = offset; state.running; turn += 1) {
      const answer = await ask(agent, options, options.path?.(turn) ?? '/').catch(
        (error: Error) => `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`,
      );
      if (typeof answer === 'string') failures.push(answer);
      else if (answer.status !== 200)
        failures.push(`${answer.status} ${answer.text.slice(0, 100)}`);
      else {
        ok += 1;
        bodies.add(answer.text);
      }
      if (options.pause) await new Promise((resolve) => setTimeout(resolve, options.pause));
    }
  };
  const all = Promise.all(Array.from({ length: options.clients }, (_, index) => client(index * 7)));
  return {
    async stop() {
      state.running = false;
      await all;
      agent.destroy();
      return { ok, failures, bodies };
    },
  };
}

function ask(agent: Agent, { port, host }: { port: number; host: string }, path: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

/** Milliseconds after which a connection without an answer counts as one that hangs. */
const HANGS = 15_000;

interface Asking {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
  readonly status?: number;
  /** The end of a whole answer. */
  readonly end?: string;
}

/** The same with a new connection for each request, and `hangs` for one that neither answers nor ends. */
export function startConnections(options: Asking & { clients: number }): {
  stop(): Promise<Pick<LoadResult, 'ok' | 'failures'>>;
} {
  const failures: string[] = [];
  let ok = 0;
  const state = { running: true };
  const client = async () => {
    while (state.running) {
      const outcome = await askOnce(options);
      if (outcome === 'ok') ok += 1;
      else failures.push(outcome);
    }
  };
  const all = Promise.all(Array.from({ length: options.clients }, client));
  return {
    async stop() {
      state.running = false;
      await all;
      return { ok, failures };
    },
  };
}

function askOnce({ port, host, path = '/', status = 200, end = 'ok' }: Asking): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    const timer = setTimeout(() => {
      resolve('hangs');
      socket.destroy();
    }, HANGS);
    socket
      .on('data', (data) => (text += String(data)))
      .on('error', ({ message }) => resolve(message))
      .on('close', () => {
        clearTimeout(timer);
        const whole = text.startsWith(`HTTP/1.1 ${status} `) && text.endsWith(end);
        resolve(whole ? 'ok' : `ended after ${text.slice(0, 50)}`);
      });
  });
}
