/** Milliseconds until files that could not be loaded are asked for again. */
const AGAIN = 1000;

/**
 * A browser drops what it loads when its network changes, and a page that lacks one of its files
 * would stay empty.
 */
const load = (): void =>
  void import('./start.tsx').then(
    ({ start }) => start(),
    (error: unknown) => {
      reportError(error);
      setTimeout(load, AGAIN);
    },
  );

load();
