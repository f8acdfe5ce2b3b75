import type { Deployment } from '../records/app.ts';

type DeploymentKey = Pick<Deployment, 'app_id' | 'number'>;

/** The output of builds that are running. When a build has ended, its output is in the database. */
export interface BuildLogs {
  open(deployment: DeploymentKey): void;
  add(deployment: DeploymentKey, line: string): void;
  /** @returns the whole output, which is then no longer kept here. */
  close(deployment: DeploymentKey): string;
  /** The output of a running build so far. */
  peek(deployment: DeploymentKey): string;
  /** The lines so far and all later ones. Null when no such build runs in this process. */
  follow(deployment: DeploymentKey, signal: AbortSignal): AsyncGenerator<string> | null;
}

interface Log {
  readonly lines: string[];
  readonly waiting: Set<() => void>;
  bytes: number;
  over: boolean;
}

/** Bytes of output that are kept of a build. A build that prints more goes on, without a record. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LINE = 4000;

export function createBuildLogs(): BuildLogs {
  const logs = new Map<string, Log>();
  const wake = (log: Log) => {
    for (const listener of log.waiting) listener();
    log.waiting.clear();
  };
  return {
    open: (deployment) =>
      void logs.set(keyOf(deployment), { lines: [], waiting: new Set(), bytes: 0, over: false }),
    add(deployment, text) {
      const log = logs.get(keyOf(deployment));
      if (!log || log.bytes > MAX_BYTES) return;
      for (const raw of text.split(/\r?\n/)) {
        const line = clean(raw);
        log.bytes += line.length + 1;
        log.lines.push(log.bytes > MAX_BYTES ? '(more was printed, and is left out)' : line);
        if (log.bytes > MAX_BYTES) break;
      }
      wake(log);
    },
    close(deployment) {
      const log = logs.get(keyOf(deployment));
      if (!log) return '';
      logs.delete(keyOf(deployment));
      log.over = true;
      wake(log);
      return log.lines.map((line) => `${line}\n`).join('');
    },
    peek: (deployment) =>
      (logs.get(keyOf(deployment))?.lines ?? []).map((line) => `${line}\n`).join(''),
    follow(deployment, signal) {
      const log = logs.get(keyOf(deployment));
      return log ? follow(log, signal) : null;
    },
  };
}

async function* follow(log: Log, signal: AbortSignal): AsyncGenerator<string> {
  for (let at = 0; !signal.aborted;) {
    while (at < log.lines.length) yield log.lines[at++] as string;
    if (log.over) return;
    await new Promise<void>((resolve) => {
      log.waiting.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

const keyOf = ({ app_id, number }: DeploymentKey) => `${app_id}/${number}`;

/** Removes colours and cursor movements, because the output is also shown outside of terminals. */
const clean = (line: string) =>
  line
    .replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '')
    .replace(/[^\P{Cc}\t]/gu, '')
    .slice(0, MAX_LINE);
