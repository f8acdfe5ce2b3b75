import type { Carrier, Page } from './session-kept.ts';

/** Where a session is kept unless the options say. */
export const STORAGE = 'memory';

/** Whether tabs with one store share all of a session. */
export const IS_IN_STORE = false;

/** Refresh tokens are in a cookie: a note tells the next page that there is one. */
export function createCarrier(key: string, shared: Page | undefined): Carrier {
  const note = key + ' cookie';
  return {
    init: { credentials: 'include' },
    mayHold: shared?.localStorage.getItem(note) != null,
    proof: () => ({}),
    latest: (load) => load(),
    stored: (at) =>
      at ? shared?.localStorage.setItem(note, 'yes') : shared?.localStorage.removeItem(note),
  };
}
