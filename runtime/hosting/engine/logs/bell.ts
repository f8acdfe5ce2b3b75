import { watch, type FSWatcher } from 'node:fs';

/** Rings when a file changes, or when somebody says so. */
export interface Bell {
  ring(): void;
  /** At once when it is first asked, since what came before then was not heard; then when it has rung. */
  rung(): Promise<void>;
  /** Whether somebody waits for it. */
  isQuiet(): boolean;
  close(): void;
}

/** Where the kernel watches no more files for us. */
const WITHOUT_WATCH = 200;

/** The file is only watched while somebody waits: of a flood each write would be told. */
export function createBell(path: string): Bell {
  let watching: { close(): void } | undefined;
  let isRung = false;
  let wake = () => {};
  const ring = () => {
    isRung = true;
    wake();
  };
  const close = () => {
    watching?.close();
    watching = undefined;
  };
  return {
    ring,
    close,
    isQuiet: () => watching !== undefined,
    async rung() {
      if (!watching) {
        isRung = false;
        watching = watchFile(path, ring);
        return;
      }
      if (!isRung) await new Promise<void>((resolve) => (wake = resolve));
      close();
    },
  };
}

function watchFile(path: string, ring: () => void): { close(): void } {
  try {
    const watcher: FSWatcher = watch(path, { persistent: false }, ring);
    return watcher.on('error', ring);
  } catch {
    const timer = setTimeout(ring, WITHOUT_WATCH);
    return { close: () => clearTimeout(timer) };
  }
}
