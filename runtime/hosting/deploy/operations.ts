import { failure } from '@twofold/runtime/errors';

/** One operation an app at a time. */
export interface Operations {
  /**
   * What runs by itself (`tryRun`) gives way; another caller's operation does not.
   *
   * @throws AppError 409 while another one runs on the app.
   */
  run<T>(appId: string, kind: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Runs it when nothing else does, and says whether it ran: for the reconciler, which comes again. */
  tryRun(
    appId: string,
    kind: string,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean>;
  running(appId: string): string | undefined;
  /** The app's operation has come to its end but for what it clears away: the next one waits for it, and is not refused. */
  finishing(appId: string): void;
  /** Tells the app's operation to give up, and waits for its end. */
  cancel(appId: string): Promise<void>;
  /** Tells every operation to give up, and waits. */
  stop(): Promise<void>;
}

interface RunningOperation {
  readonly kind: string;
  readonly automatic: boolean;
  finishing: boolean;
  readonly abort: AbortController;
  readonly done: Promise<unknown>;
}

export function createOperations(): Operations {
  const running = new Map<string, RunningOperation>();
  let stopped = false;

  const begin = <T>(
    appId: string,
    { kind, automatic }: { kind: string; automatic: boolean },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const abort = new AbortController();
    const done = (async () => work(abort.signal))().finally(() => running.delete(appId));
    running.set(appId, { kind, automatic, finishing: false, abort, done: done.catch(() => {}) });
    return done;
  };

  return {
    async run(appId, kind, work) {
      if (stopped) throw failure.unavailable('The server is stopping');
      for (let other = running.get(appId); other; other = running.get(appId)) {
        if (!other.automatic && !other.finishing)
          throw failure.conflict(`Another operation is running on this app: ${other.kind}`);
        if (other.automatic) other.abort.abort();
        await other.done;
      }
      return begin(appId, { kind, automatic: false }, work);
    },
    async tryRun(appId, kind, work) {
      if (stopped || running.has(appId)) return false;
      await begin(appId, { kind, automatic: true }, work);
      return true;
    },
    running: (appId) => running.get(appId)?.kind,
    finishing(appId) {
      const operation = running.get(appId);
      if (operation) operation.finishing = true;
    },
    async cancel(appId) {
      const operation = running.get(appId);
      operation?.abort.abort();
      await operation?.done;
    },
    async stop() {
      stopped = true;
      for (const { abort } of running.values()) abort.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
