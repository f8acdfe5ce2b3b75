/** Milliseconds between two looks at the parent. */
const LOOK_EVERY = 500;

/** The shell of `npm start`, if that started the server; it may be gone before the server listens. */
const SHELL = process.ppid;

/**
 * Calls `end` on SIGTERM and SIGINT, and when `npm start` was ended: npm signals only the shell
 * between the two, and many a shell dies of that and passes nothing on. `end` may be called again.
 */
export function whenToldToEnd(end: () => void): void {
  // npm and process managers send a signal twice. The second one ends nothing that still runs.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  // Only there: a server that another script starts in the background outlives its shell.
  if (process.env['npm_lifecycle_event'] === 'start')
    setInterval(() => process.ppid !== SHELL && end(), LOOK_EVERY).unref();
}
