import type { Call } from './calls.ts';

/** Nobody signs in at this server, so nothing is kept. */
export interface SessionOptions {}

/** Nobody signs in at this server, so there are no members for it. */
export interface SessionMembers {}

export const createSession = (_origin: string, _options: SessionOptions, send: Call) => ({
  send,
  members: {},
});
