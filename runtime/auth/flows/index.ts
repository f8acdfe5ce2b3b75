import { flowsIn } from '@twofold/runtime/http';
import type { AuthState } from '../state.ts';
import * as account from './account.ts';
import * as apiKeys from './api-keys.ts';
import * as devices from './devices.ts';
import * as invitations from './invitations.ts';
import * as login from './login.ts';
import * as logs from './logs.ts';
import * as oauth from './oauth.ts';
import * as organizations from './organizations.ts';
import * as ownKeys from './own-keys.ts';
import * as passkeys from './passkeys.ts';
import * as passwords from './passwords.ts';
import * as registration from './registration.ts';
import * as roles from './roles.ts';
import * as secondFactor from './second-factor.ts';
import * as sessions from './sessions.ts';
import * as tokens from './tokens.ts';
import * as userSessions from './user-sessions.ts';
import * as users from './users.ts';
import * as webhooks from './webhooks.ts';

/** The endpoints under `/api/auth` and `/api/oauth`. */
export const authFlows = flowsIn<AuthState>(
  ...[login, registration, sessions, account, passwords, ownKeys, oauth, secondFactor, devices],
  ...[passkeys, organizations, invitations],
  ...[apiKeys, tokens, users, userSessions, roles, logs, webhooks],
);
