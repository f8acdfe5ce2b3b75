/** Types that the functions of a project use. */
export type { Extend, ExtendInput, ExtendRequest } from './sessions/extend.ts';
export type {
  EventType,
  Listener,
  Listeners,
  SecurityEvent,
  Severity,
} from './events/event-types.ts';
export type {
  AfterRegister,
  AuthHooks,
  BeforeLogin,
  BeforeRegister,
  BreachedPasswords,
  HookRequest,
  HookUser,
} from './auth-hooks.ts';
export type { Auth } from './own/auth-api.ts';
