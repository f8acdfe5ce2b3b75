export { createAuth, type AuthModule, type AuthOptions } from './create-auth.ts';
export type { AuthHooks, Extend, ExtendRequest, Listeners, SecurityEvent } from './types.ts';
