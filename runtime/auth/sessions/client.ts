import { failure } from '@twofold/runtime/errors';
import type { AuthState } from '../state.ts';
import type { Account } from '../users/user-directory.ts';
import type { CheckedSession } from './session-check.ts';
import type { Lifetimes } from './sessions.ts';

/**
 * The application of the server's own origin that a request signs in for: `client` of its body. The
 * refresh token then goes into a cookie of that application, whatever the manifest's delivery.
 *
 * @returns null when the body names none.
 * @throws AppError 400 when `client` or `delivery` stands alone
 */
export function clientOf(body: unknown): string | null {
  const { client, delivery } = (body ?? {}) as { client?: string; delivery?: string };
  if (client !== undefined && delivery === undefined)
    throw failure.badRequest('delivery is required with client');
  if (delivery !== undefined && client === undefined)
    throw failure.badRequest('client is required with delivery');
  return client ?? null;
}

/** The lifetimes of a session of the application; undefined when the manifest alone decides. */
export function lifetimesOf(auth: AuthState, client: string | null): Lifetimes | undefined {
  const application = client === null ? undefined : auth.applications.get(client);
  if (!application || !auth.model.refresh.enabled) return application;
  return {
    idle: Math.min(application.idle, auth.model.refresh.idle),
    absolute: Math.min(application.absolute, auth.model.refresh.absolute),
  };
}

/** Milliseconds for which a new access token of such a session is valid. */
export function accessLifetime(auth: AuthState, client: string | null): number {
  const application = client === null ? undefined : auth.applications.get(client);
  return application ? Math.min(application.access, auth.model.jwt.ttl) : auth.model.jwt.ttl;
}

/** Whether sessions of this client get a refresh token. */
export const hasRefresh = (auth: AuthState, client: string | null): boolean =>
  auth.model.refresh.enabled || (client !== null && auth.applications.has(client));

/** Whether the user may sign in to the application. Anybody may, where none has rules for it. */
export function admits(
  auth: AuthState,
  client: string | null,
  account: Pick<Account, 'role'>,
): boolean {
  const application = client === null ? undefined : auth.applications.get(client);
  if (!application) return true;
  return application.open && Object.hasOwn(application.roles, account.role?.name ?? '');
}

/** Like `admits`, for the operator. */
export function admitsHost(auth: AuthState, client: string | null): boolean {
  const application = client === null ? undefined : auth.applications.get(client);
  return application === undefined || (application.open && application.host);
}

/** Whether the operator uses an application of this server, and not only its hosting. */
export const isOperated = (applications: AuthState['applications']): boolean =>
  applications.size > 0 && [...applications.values()].some(({ host }) => host);

/** The permissions of a user: those of their role, and those that applications give to the role. */
export function permissionsWith(
  applications: AuthState['applications'],
  { role, permissions }: Pick<CheckedSession, 'role' | 'permissions'>,
): readonly string[] {
  const given = applications.size > 0 && role ? rolePermissions(applications, role.name) : [];
  return given.length > 0 ? [...permissions, ...given] : permissions;
}

/** The permissions that applications give to users with a role. */
export const rolePermissions = (
  applications: AuthState['applications'],
  role: string,
): readonly string[] =>
  [...applications.values()].flatMap(({ roles }) =>
    Object.hasOwn(roles, role) ? roles[role]! : [],
  );
