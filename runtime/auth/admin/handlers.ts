import type { AuthParts } from '../parts.ts';
import { createImpersonate } from './impersonation.ts';
import { keyHandlers } from './keys.ts';
import { logHandlers } from './logs.ts';
import { newUserHandlers } from './new-users.ts';
import { roleHandlers } from './roles.ts';
import { tokenHandlers } from './tokens.ts';
import { userSessionHandlers } from './user-sessions.ts';
import { userHandlers } from './users.ts';
import { webhookHandlers } from './webhooks.ts';

/** All routes under `/api/auth/admin`. */
export function adminHandlers(parts: AuthParts) {
  return {
    ...keyHandlers(parts),
    ...tokenHandlers(parts),
    ...userHandlers(parts),
    ...newUserHandlers(parts),
    ...userSessionHandlers(parts),
    impersonate: createImpersonate(parts),
    ...roleHandlers(parts),
    ...logHandlers(parts),
    ...webhookHandlers(parts),
  };
}
