import type { Carrier, Kept, Page } from './session-kept.ts';

/** Where a session is kept unless the options say. */
export const STORAGE = 'local';

/** Whether tabs with one store share all of a session. */
export const IS_IN_STORE = true;

/** Refresh tokens are sent in bodies: what a page stores is the session. */
export function createCarrier(key: string, shared: Page | undefined): Carrier {
  const locks = shared?.navigator.locks;
  let letGo = () => {};
  return {
    init: {},
    mayHold: false,
    proof: (session) =>
      session?.refreshToken ? { refreshToken: session.refreshToken } : undefined,

    /**
     * A page can see what another one stored a moment later only, but a lock at once: as long as a
     * lock tells of newer tokens, or of a later sign-out, they are waited for.
     */
    async latest(load) {
      const held = (await locks?.query())?.held ?? [];
      const times = held.map(({ name = '' }) =>
        name.startsWith(key + ' ') ? +name.slice(key.length + 1) : 0,
      );
      let kept: Kept | null = await load();
      for (let tries = 0; kept && kept.at < Math.max(...times) && tries < 50; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        kept = await load();
      }
      return kept;
    },

    /** Shows other tabs, by the name of a lock, when this one has changed what is stored. */
    async stored(at = Date.now()) {
      letGo();
      if (locks)
        await new Promise<void>((held) => {
          void locks.request(key + ' ' + at, { mode: 'shared' }, () => {
            held();
            return new Promise<void>((resolve) => (letGo = resolve));
          });
        });
    },
  };
}
