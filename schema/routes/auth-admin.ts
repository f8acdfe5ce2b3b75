import { API_KEY, DURATION, ERROR, ID, MESSAGE, NAMES, object, page, SHORT, TOKEN, USER } from './auth-schemas.ts';
import type { JsonSchema, RouteSpec } from './route.ts';

const tag = 'auth-admin';
const access = 'admin';
const refused = (description: string) => ({ description, schema: ERROR });
const answer = (status: number, description: string, schema?: JsonSchema): RouteSpec['responses'] => ({
  [status]: { description, ...(schema && { schema }) },
  401: refused('API key required'),
  403: refused('Forbidden'),
});
const list = (name: string) => object({ [name]: { type: 'array', items: { type: 'object' } }, total: { type: 'integer' } });
const logQuery = { limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 }, cursor: SHORT, since: SHORT } as const;

/** Management: an API key with the scope `auth:manage`, or a user with that permission. */
export const adminRoutes = [
  { id: 'createApiKey', method: 'POST', path: '/api/auth/admin/api-keys', access, tag, summary: 'Make an API key; it is shown once', body: { kind: 'json', schema: object({ name: SHORT, scopes: NAMES, expires_in: DURATION, user_id: ID, limit_per_min: { type: 'integer', minimum: 1, maximum: 1000000 } }, ['name', 'scopes']) }, responses: answer(201, 'The key', API_KEY) },
  { id: 'apiKeys', method: 'GET', path: '/api/auth/admin/api-keys', access, tag, summary: 'API keys, without their secrets', responses: answer(200, 'The keys', list('api_keys')) },
  { id: 'updateApiKey', method: 'PATCH', path: '/api/auth/admin/api-keys/:id', access, tag, summary: 'Change what an API key may do', body: { kind: 'json', schema: object({ scopes: NAMES }, ['scopes']) }, responses: answer(200, 'The key', API_KEY) },
  { id: 'rotateApiKey', method: 'POST', path: '/api/auth/admin/api-keys/:id/rotate', access, tag, summary: 'Replace an API key; the old one works for the overlap', body: { kind: 'json', optional: true, schema: object({ overlap: DURATION }) }, responses: answer(201, 'The new key', API_KEY) },
  { id: 'revokeApiKey', method: 'DELETE', path: '/api/auth/admin/api-keys/:id', access, tag, summary: 'Revoke an API key', responses: answer(204, 'Revoked') },

  { id: 'revokeTokens', method: 'POST', path: '/api/auth/admin/tokens/revoke', access, tag, summary: 'Blacklist a token, a token id, or every token of a user', body: { kind: 'json', schema: object({ jti: SHORT, token: TOKEN, user_id: ID }) }, responses: answer(200, 'How many', object({ revoked: { type: 'integer' } })) },
  { id: 'introspect', method: 'POST', path: '/api/auth/admin/introspect', access, tag, summary: 'Whether a token is live, and its claims (RFC 7662)', body: { kind: 'json', schema: object({ token: TOKEN }, ['token']) }, responses: answer(200, 'Its state', object({ active: { type: 'boolean' } }, ['active'])) },

  { id: 'adminUser', method: 'GET', path: '/api/auth/admin/users/:id', access, tag, summary: 'A user and the state of the account', responses: answer(200, 'The user', USER) },
  { id: 'unlockUser', method: 'POST', path: '/api/auth/admin/users/:id/unlock', access, tag, summary: 'Unlock an account', responses: answer(200, 'Done', MESSAGE) },
  { id: 'disableUser', method: 'POST', path: '/api/auth/admin/users/:id/disable', access, tag, summary: 'Disable an account; its sessions, keys and tokens end', responses: answer(200, 'Done', MESSAGE) },
  { id: 'enableUser', method: 'POST', path: '/api/auth/admin/users/:id/enable', access, tag, summary: 'Enable an account again', responses: answer(200, 'Done', MESSAGE) },
  { id: 'startReset', method: 'POST', path: '/api/auth/admin/users/:id/reset-password', access, tag, summary: 'Send the mail that resets a password', responses: answer(200, 'Done', MESSAGE) },
  { id: 'deleteUser', method: 'DELETE', path: '/api/auth/admin/users/:id', access, tag, summary: 'Delete an account', responses: answer(204, 'Deleted') },
  { id: 'endUserSessions', method: 'DELETE', path: '/api/auth/admin/users/:id/sessions', access, tag, summary: 'End every session of a user', responses: answer(204, 'Ended') },
  { id: 'assignRole', method: 'PUT', path: '/api/auth/admin/users/:id/role', access, tag, summary: 'Give a user a role', body: { kind: 'json', schema: object({ role_id: { type: ['integer', 'null'] } }, ['role_id']) }, responses: answer(200, 'The user', USER) },

  { id: 'roles', method: 'GET', path: '/api/auth/admin/roles', access, tag, summary: 'Roles with their permissions', responses: answer(200, 'The roles', list('roles')) },
  { id: 'createRole', method: 'POST', path: '/api/auth/admin/roles', access, tag, summary: 'Make a role', body: { kind: 'json', schema: object({ name: SHORT, permissions: NAMES }, ['name']) }, responses: { ...answer(201, 'The role', object({ id: { type: 'integer' } })), 409: refused('Role already exists') } },
  { id: 'updateRole', method: 'PUT', path: '/api/auth/admin/roles/:id', access, tag, summary: 'Rename a role', body: { kind: 'json', schema: object({ name: SHORT }, ['name']) }, responses: answer(200, 'The role', object({ id: { type: 'integer' } })) },
  { id: 'deleteRole', method: 'DELETE', path: '/api/auth/admin/roles/:id', access, tag, summary: 'Delete a role that nobody has', responses: { ...answer(204, 'Deleted'), 409: refused('Role is in use') } },
  { id: 'grantPermission', method: 'PUT', path: '/api/auth/admin/roles/:id/permissions/:name', access, tag, summary: 'Grant a permission to a role', responses: answer(204, 'Granted') },
  { id: 'revokePermission', method: 'DELETE', path: '/api/auth/admin/roles/:id/permissions/:name', access, tag, summary: 'Take a permission from a role', responses: answer(204, 'Taken') },
  { id: 'permissions', method: 'GET', path: '/api/auth/admin/permissions', access, tag, summary: 'Permissions that roles have', responses: answer(200, 'The permissions', list('permissions')) },

  { id: 'loginAttempts', method: 'GET', path: '/api/auth/admin/login-attempts', access, tag, summary: 'Who tried to sign in', query: { ...logQuery, user_id: SHORT, ip: SHORT, outcome: { type: 'string', enum: ['success', 'failure', 'blocked'] } }, responses: answer(200, 'The attempts', page('attempts')) },
  { id: 'securityEvents', method: 'GET', path: '/api/auth/admin/security-events', access, tag, summary: 'What happened', query: { ...logQuery, type: SHORT, user_id: SHORT }, responses: answer(200, 'The events', page('events')) },
  { id: 'permissionChanges', method: 'GET', path: '/api/auth/admin/permission-changes', access, tag, summary: 'Who changed what somebody may do', query: logQuery, responses: answer(200, 'The changes', page('changes')) },

  { id: 'webhooks', method: 'GET', path: '/api/auth/admin/webhooks', access, tag, summary: 'Where events are sent', responses: answer(200, 'The endpoints', list('webhooks')) },
  { id: 'createWebhook', method: 'POST', path: '/api/auth/admin/webhooks', access, tag, summary: 'Send events to an address; the secret is shown once', body: { kind: 'json', schema: object({ url: { type: 'string', maxLength: 2048 }, types: NAMES }, ['url']) }, responses: answer(201, 'The endpoint', object({ id: SHORT, secret: SHORT })) },
  { id: 'rotateWebhook', method: 'POST', path: '/api/auth/admin/webhooks/:id/rotate', access, tag, summary: 'A new secret; both sign for the overlap', body: { kind: 'json', optional: true, schema: object({ overlap: DURATION }) }, responses: answer(200, 'The endpoint', object({ id: SHORT, secret: SHORT })) },
  { id: 'deleteWebhook', method: 'DELETE', path: '/api/auth/admin/webhooks/:id', access, tag, summary: 'Stop sending', responses: answer(204, 'Deleted') },
  { id: 'testWebhook', method: 'POST', path: '/api/auth/admin/webhooks/:id/test', access, tag, summary: 'Send one test event now', responses: answer(200, 'What came back', object({ delivered: { type: 'boolean' }, status: { type: ['integer', 'null'] } })) },
] as const satisfies readonly RouteSpec[];
