import { AppError, failure } from '@twofold/runtime/errors';
import {
  asSystem,
  type Credentialed,
  type CredentialRequest,
  type Principal,
  type RequestContext,
} from '@twofold/runtime/kernel';
import { trustedOrigins } from '../sessions/client-cookie.ts';
import { isUserId, storedUserId, type UserId } from '../base/ids.ts';
import { membershipsOf } from '../users/memberships.ts';
import type { AuthState } from '../state.ts';
import { permissionsWith } from '../sessions/client.ts';
import { permissionsOf } from '../users/permissions.ts';
import { isClosed } from '../users/user-directory.ts';

/** The principals of access tokens that `ctx.auth.verify` has checked, with their session. */
const BY_TOKEN = new WeakMap<Credentialed, Principal>();

/** The user of an access token; null when it is not valid. */
export async function recogniseToken(auth: AuthState, token: string): Promise<Credentialed | null> {
  const claims = auth.config.users ? auth.tokens.user.verify(token) : null;
  if (!claims) return null;
  const session = await auth.sessions.check(claims);
  if (session?.principal !== 'user') return null;
  const recognised: Credentialed = { userId: String(claims.user_id), method: 'bearer' };
  BY_TOKEN.set(recognised, {
    kind: 'user',
    id: claims.user_id,
    role: session.role,
    permissions: permissionsWith(auth.applications, session),
    sessionId: claims.sid,
    extend: claims.extend,
    ...(session.client !== null && { client: session.client }),
    ...(session.impersonator !== null && { impersonator: session.impersonator }),
    ...(session.organizations && { organizations: session.organizations }),
  });
  return recognised;
}

/** A caller whom credentials have found. */
export interface FoundCaller {
  readonly principal: Extract<Principal, { kind: 'user' }>;
  readonly method: string;
}

/**
 * Asks the credentials of the project in turn.
 *
 * @returns null when the request is none of theirs.
 * @throws AppError 401 when one refuses, or names a user who may not sign in; 403 for a change by
 * cookie from another origin.
 */
export async function askCredentials(
  auth: AuthState,
  request: CredentialRequest,
  context: RequestContext,
): Promise<FoundCaller | null> {
  for (const credential of auth.credentials ?? []) {
    const answer = await ask(auth, () => credential(request, asSystem(auth, context)));
    if (answer === undefined) continue;
    const recognised = answer as Credentialed | null;
    const principal = recognised && (await principalOfRecognised(auth, recognised));
    if (principal?.kind !== 'user') throw failure.unauthenticated();
    if (recognised?.cookie) assertOrigin(auth, request);
    return { principal, method: recognised?.method ?? 'own' };
  }
  return null;
}

async function ask(auth: AuthState, work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const stack = error instanceof Error ? error.stack : String(error);
    auth.log.warn({ stack }, 'a function of src/credentials.ts failed');
    throw failure.unauthenticated();
  }
}

async function principalOfRecognised(
  auth: AuthState,
  recognised: Credentialed,
): Promise<Principal | null> {
  const principal = BY_TOKEN.get(recognised) ?? (await principalOf(auth, recognised.userId));
  if (principal?.kind !== 'user' || !recognised.scopes) return principal;
  return { ...principal, permissions: recognised.scopes };
}

/** The principal of a user without a session; null when there is none who may sign in. */
export async function principalOf(auth: AuthState, userId: UserId): Promise<Principal | null> {
  const id = storedUserId(userId);
  const account = isUserId(id) ? await auth.directory.find(auth.db, id) : null;
  if (!account || isClosed(account)) return null;
  const role = auth.model.roles ? account.role : null;
  const { organizations } = auth.model;
  const permissions = await permissionsOf(auth.db, auth.model.roles, role);
  return {
    kind: 'user',
    id: account.id,
    role,
    permissions: permissionsWith(auth.applications, { role, permissions }),
    sessionId: '',
    extend: { user_id: account.id },
    ...(organizations && {
      organizations: await membershipsOf(auth.store, organizations, account.id),
    }),
  };
}

/** A WebSocket is opened with GET, but its messages can be changes. */
const opensSocket = ({ headers }: CredentialRequest) =>
  String(headers['upgrade']).toLowerCase() === 'websocket';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page of another site can make a browser send its cookies, but not with our `Origin`. */
function assertOrigin(auth: AuthState, request: CredentialRequest): void {
  const { method, headers } = request;
  if (SAFE.has(method) && !opensSocket(request)) return;
  if (!trustedOrigins(auth).includes(String(headers['origin']))) throw failure.forbidden();
}
