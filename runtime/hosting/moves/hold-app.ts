import type { Core } from '../host/core.ts';

/** An operation of an app that lasts until `leave` is called. */
export interface HeldApp {
  /** Aborts when the app is deleted or the server stops. */
  readonly signal: AbortSignal;
  leave(): Promise<void>;
}

/** Keeps every other operation away from the app. @throws AppError 409 while another one runs. */
export function holdApp(core: Core, appId: string): Promise<HeldApp> {
  return new Promise((resolve, reject) => {
    const done: Promise<void> = core.operations.run(
      appId,
      'move',
      (signal) =>
        new Promise<void>((end) => {
          // Whoever deletes the app, or stops the server, waits for the end of this operation.
          signal.addEventListener('abort', () => end());
          const leave = async () => {
            end();
            await done.catch(() => {});
          };
          queueMicrotask(() => resolve({ signal, leave }));
        }),
    );
    done.catch(reject);
  });
}
