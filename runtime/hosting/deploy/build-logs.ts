import type { Deployment } from '../records/app.ts';

type DeploymentKey = Pick<Deployment, 'app_id' | 'number'>;

/** What builds print while they run; the database has it afterwards. */
export interface BuildLogs {
  open(deployment: DeploymentKey): void;
  add(deployment: DeploymentKey, line: string): void;
  /** @returns all of it, and forgets it. */
  close(deployment: DeploymentKey): string;
  /** What a running build has printed so far. */
  peek(deployment: DeploymentKey): string;
  /** The lines of a running build, and those to come; null when it does not run here. */
  follow(deployment: DeploymentKey, signal: AbortSignal): AsyncGenerator<string> | null;
}

interface Log {
  readonly lines: string[];
  readonly waiting: Set<() => void>;
  bytes: number;
  over: boolean;
}

/** A build that prints more goes on, unheard. */
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

/** No colours and no cursor movements: it is read in places that are no terminal. */
const clean = (line: string) =>
  line
    .replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '')
    .replace(/[^\P{Cc}\t]/gu, '')
    .slice(0, MAX_LINE);
