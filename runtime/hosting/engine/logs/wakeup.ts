import { watch, type FSWatcher } from 'node:fs';

/** Wakes the reader of a file when the file changes or when `wake` is called. */
export interface Wakeup {
  wake(): void;
  /**
   * Resolves at once the first time, because earlier changes were not watched. Later it waits for
   * the next change.
   */
  wait(): Promise<void>;
  /** Whether the file is being watched. */
  isWatching(): boolean;
  close(): void;
}

/** Milliseconds between reads when the kernel allows this process no more file watches. */
const POLL_INTERVAL = 200;

/** Watches the file only while the reader waits, so that not every write is reported. */
export function createWakeup(path: string): Wakeup {
  let watching: { close(): void } | undefined;
  let isAwake = false;
  let resume = () => {};
  const wake = () => {
    isAwake = true;
    resume();
  };
  const close = () => {
    watching?.close();
    watching = undefined;
  };
  return {
    wake,
    close,
    isWatching: () => watching !== undefined,
    async wait() {
      if (!watching) {
        isAwake = false;
        watching = watchFile(path, wake);
        return;
      }
      if (!isAwake) await new Promise<void>((resolve) => (resume = resolve));
      close();
    },
  };
}

function watchFile(path: string, wake: () => void): { close(): void } {
  try {
    const watcher: FSWatcher = watch(path, { persistent: false }, wake);
    return watcher.on('error', wake);
  } catch {
    const timer = setTimeout(wake, POLL_INTERVAL);
    return { close: () => clearTimeout(timer) };
  }
}
