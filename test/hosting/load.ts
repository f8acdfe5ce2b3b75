import { Agent, request } from 'node:http';

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
