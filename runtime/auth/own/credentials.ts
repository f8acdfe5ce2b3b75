import { AppError, failure } from '@twofold/runtime/errors';
import {
  asSystem,
  type Credentialed,
  type CredentialRequest,
  type Principal,
  type RequestContext,
} from '@twofold/runtime/kernel';
import { isUserId, storedUserId, type UserId } from '../ids.ts';
import { membershipsOf } from '../organizations/memberships.ts';
import type { AuthParts } from '../parts.ts';
import { permissionsWith } from '../sessions/client.ts';
import { permissionsOf } from '../users/permissions.ts';
import { isClosed } from '../users/user-directory.ts';

/** The principals of access tokens that `ctx.auth.verify` has checked, with their session. */
const BY_TOKEN = new WeakMap<Credentialed, Principal>();

/** The user of an access token; null when it is not valid. */
export async function recogniseToken(
  { users, accessTokens, sessions, applications }: AuthParts,
  token: string,
): Promise<Credentialed | null> {
  const claims = users ? accessTokens.verify(token) : null;
  if (!claims) return null;
  const session = await sessions.check(claims);
  if (session?.principal !== 'user') return null;
  const recognised: Credentialed = { userId: String(claims.user_id), method: 'bearer' };
  BY_TOKEN.set(recognised, {
    kind: 'user',
    id: claims.user_id,
    role: session.role,
    permissions: permissionsWith(applications, session),
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
  parts: AuthParts,
  request: CredentialRequest,
  context: RequestContext,
): Promise<FoundCaller | null> {
  for (const credential of parts.kernel.credentials ?? []) {
    const answer = await ask(parts, () => credential(request, asSystem(parts.kernel, context)));
    if (answer === undefined) continue;
    const recognised = answer as Credentialed | null;
    const principal = recognised && (await principalOfRecognised(parts, recognised));
    if (principal?.kind !== 'user') throw failure.unauthenticated();
    if (recognised?.cookie) assertOrigin(parts, request);
    return { principal, method: recognised?.method ?? 'own' };
  }
  return null;
}

async function ask(parts: AuthParts, work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const stack = error instanceof Error ? error.stack : String(error);
    parts.kernel.log.warn({ stack }, 'a function of src/credentials.ts failed');
    throw failure.unauthenticated();
  }
}

async function principalOfRecognised(
  parts: AuthParts,
  recognised: Credentialed,
): Promise<Principal | null> {
  const principal = BY_TOKEN.get(recognised) ?? (await principalOf(parts, recognised.userId));
  if (principal?.kind !== 'user' || !recognised.scopes) return principal;
  return { ...principal, permissions: recognised.scopes };
}

/** The principal of a user without a session; null when there is none who may sign in. */
export async function principalOf(
  { directory, kernel, model, applications }: AuthParts,
  userId: UserId,
): Promise<Principal | null> {
  const id = storedUserId(userId);
  const account = isUserId(id) ? await directory.find(kernel.store.db, id) : null;
  if (!account || isClosed(account)) return null;
  const role = model.roles ? account.role : null;
  const { organizations } = model;
  const permissions = await permissionsOf(kernel.store.db, model.roles, role);
  return {
    kind: 'user',
    id: account.id,
    role,
    permissions: permissionsWith(applications, { role, permissions }),
    sessionId: '',
    extend: { user_id: account.id },
    ...(organizations && {
      organizations: await membershipsOf(kernel.store, organizations, account.id),
    }),
  };
}

/** A WebSocket is opened with GET, but its messages can be changes. */
const opensSocket = ({ headers }: CredentialRequest) =>
  String(headers['upgrade']).toLowerCase() === 'websocket';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page of another site can make a browser send its cookies, but not with our `Origin`. */
function assertOrigin({ kernel, config }: AuthParts, request: CredentialRequest): void {
  const { method, headers } = request;
  if (SAFE.has(method) && !opensSocket(request)) return;
  const allowed = [
    ...kernel.project.server.cors.filter((origin) => origin !== '*'),
    new URL(config.appUrl).origin,
  ];
  if (!allowed.includes(String(headers['origin']))) throw failure.forbidden();
}
