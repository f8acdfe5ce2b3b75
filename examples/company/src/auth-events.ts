import type * as types from './generated/types.ts';

/** What happens beside the log and the webhooks, once an event is committed; `'*'` hears them all. What is thrown here reaches no request. */
export const listeners: types.Listeners = {
  'auth.locked': (event) => console.warn(`user ${String(event.user_id)} is locked until ${String(event.data['until'])}, after wrong passwords from ${event.ip}`),
};
