/** `@twofold/auth`: everything that a project may import. */
export { auth } from './auth.ts';
export type { AuthFunctions } from './auth.ts';
export { adminApp, runAdmin } from './admin-app.ts';
export type { AdminReport, AdminRequest } from './admin-app.ts';
export type { AuthModule } from './create-auth.ts';
export type {
  AuthHookContext,
  AuthHooks,
  BeforeLogin,
  BreachedPasswords,
  Extend,
  ExtendRequest,
  Listeners,
  SecurityEvent,
} from './types.ts';
export type { AuthModel } from '@twofold/schema';
