import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

type Line = Readonly<Record<string, any>>;

/** A server in a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** What it has logged. */
  readonly lines: readonly Line[];
  /** Resolves with the line that a condition finds; rejects when the process ends before. */
  line(found: (line: Line) => unknown): Promise<Line>;
  listening(): Promise<string>;
  /** The exit code, and what it wrote to standard error. */
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
  stop(): Promise<void>;
}

/** @param program a file beside this one. */
export function startServer(
  env: Readonly<Record<string, string | undefined>>,
  program = 'server-program.ts',
  cwd = process.env['TMPDIR'] ?? '/tmp',
): ServerProcess {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path], {
    cwd,
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  let errors = '';
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on('line', (text) => {
    if (!text.startsWith('{')) return;
    lines.push(JSON.parse(text));
    for (const look of waiting) look();
  });
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, errors })),
  );
  const line = (found: (line: Line) => unknown) =>
    new Promise<Line>((resolve, reject) => {
      const look = () => {
        const known = lines.find(found);
        if (!known) return;
        waiting.delete(look);
        resolve(known);
      };
      waiting.add(look);
      look();
      void ended.then(({ code }) => reject(new Error(`it ended with ${code}: ${errors}`)));
    });
  return {
    child,
    lines,
    line,
    ended,
    listening: async () =>
      /http\S+/.exec((await line(({ msg }) => msg?.startsWith('listening'))).msg)![0],
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Asks `/graphql` of a server. */
export async function ask(url: string, query: string): Promise<any> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

/** Subscribes, and collects what comes. @returns a function that ends it. */
export async function subscribe(
  url: string,
  query: string,
  take: (data: any, errors?: any[]) => void,
  ended: () => void = () => {},
): Promise<() => void> {
  const ending = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: ending.signal,
  });
  const read = async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data) take(JSON.parse(data).data, JSON.parse(data).errors);
      }
    }
  };
  void read()
    .catch(() => {})
    .finally(ended);
  return () => ending.abort();
}
