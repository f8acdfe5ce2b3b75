export { createAuth, type AuthModule, type AuthOptions } from './create-auth.ts';
export type { Extend, ExtendRequest, Listeners, LoginHook, SecurityEvent } from './types.ts';
