import { GOOD, startServer, type TestServer, USER } from './harness.ts';

export const ROLES = { list: ['Owner', 'Manager', 'Member'], default: 'Member', first: 'Owner' };
export const ADMIN = '/api/auth/admin';
export const SETUP = '/api/auth/setup';
export const INVALID = '{"error":"Invalid or expired token"}';
export const HOUR = 3_600_000;
export const SETUP_TOKEN = 'a setup token that has 32 characters or more';

/** Tokens that the log of a start has. */
export const tokensIn = (server: TestServer) =>
  [...server.logs.join('').matchAll(/\/auth\/setup\?token=([\w-]+)/g)].map(([, token]) => token!);

/** A server whose first user became its owner. */
export async function startOwned(database: 'SQLite' | 'PostgreSQL', more: object = {}) {
  const server = await startServer({ database, entity: USER, auth: { roles: ROLES }, ...more });
  const owner = await server.call('POST', SETUP, {
    token: tokensIn(server)[0],
    email: 'owner@x.test',
    password: GOOD,
  });
  return { server, owner: owner.body };
}
