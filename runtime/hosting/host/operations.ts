import { failure } from '@twofold/runtime/errors';

/** Allows one operation for each app at a time. */
export interface Operations {
  /**
   * Cancels an automatic operation (`tryRun`) of this app and waits for its end.
   *
   * @throws AppError 409 while an operation of another caller runs on the app.
   */
  run<T>(appId: string, kind: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Runs `work` when no other operation runs on the app. @returns whether it ran: the reconciler
   * tries again later.
   */
  tryRun(
    appId: string,
    kind: string,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean>;
  running(appId: string): string | undefined;
  /**
   * Marks that only the clean-up of the app's operation is left. The next operation then waits for
   * it instead of being refused.
   */
  finishing(appId: string): void;
  /** Aborts the app's operation and waits for its end. `reason` becomes that of its signal. */
  cancel(appId: string, reason?: Error): Promise<void>;
  /** Aborts every operation and waits for all of them. */
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
    async cancel(appId, reason) {
      const operation = running.get(appId);
      operation?.abort.abort(reason);
      await operation?.done;
    },
    async stop() {
      stopped = true;
      for (const { abort } of running.values()) abort.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}
