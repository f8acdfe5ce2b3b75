/** Types that the functions of a project use. */
export type { Extend, ExtendInput, ExtendRequest } from './extend.ts';
export type { EventType, Listener, Listeners, SecurityEvent, Severity } from './event-types.ts';
export type { AuthHookContext, AuthHooks, BeforeLogin, BreachedPasswords } from './auth-hooks.ts';
