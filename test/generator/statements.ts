import { StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

/** What the drivers of both databases are given in this process, from here to `end`. */
export interface StatementNotes {
  /** Texts since the last call. */
  take(): string[];
  end(): void;
}

/** Looks at the drivers themselves, so that nothing of ours stands between the test and what is really issued. */
export function noteStatements(): StatementNotes {
  let texts: string[] = [];
  const undo: (() => void)[] = [];
  const wrap = (
    target: any,
    name: string,
    textOf: (self: any, given: unknown) => string | undefined,
  ) => {
    const original = target[name];
    target[name] = function (this: any, ...given: unknown[]) {
      const text = textOf(this, given[0]);
      if (text !== undefined) texts.push(text);
      return original.apply(this, given);
    };
    undo.push(() => void (target[name] = original));
  };
  for (const name of ['all', 'get', 'run', 'iterate'])
    wrap(StatementSync.prototype, name, (statement: StatementSync) => statement.sourceSQL);
  // A write that may take long is run in a thread. A read there has begun in this one, and is noted already.
  wrap(Worker.prototype, 'postMessage', (_worker, job) => {
    const { kind, text } = job as { kind?: string; text?: string };
    return kind === 'run' ? text : undefined;
  });
  wrap(pg.Client.prototype, 'query', (_client, query) =>
    typeof query === 'string' ? query : (query as { text?: string }).text,
  );
  return { take: () => texts.splice(0), end: () => undo.forEach((each) => each()) };
}
