import { hasScope, type Principal, type RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Guard } from '@twofold/runtime/http';
import { rolePermissions } from '../sessions/client.ts';
import { addressKey, callerOf } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { heldBy } from './authority.ts';
import { presentedKey, unauthorized } from './authenticate.ts';
import { guardProof } from './proof.ts';

/**
 * The permissions of the routes of hosting and of `/api/data`. The guard `host` asks for all of
 * them.
 */
const HOST_PERMISSIONS = [
  'data:read',
  'data:write',
  'apps:read',
  'apps:write',
  'apps:exec',
  'models:read',
  'models:write',
  'system:read',
  'system:write',
] as const;

/** The permissions of the routes of jobs. */
const JOB_PERMISSIONS = ['jobs:read', 'jobs:write'] as const;

/**
 * Guards by the name that `access` of a route uses: `user`, `session`, `proof`, `admin`, `impersonate`, `host`,
 * and one for each permission of hosting and of jobs.
 */
export function createGuards(auth: AuthState): Readonly<Record<string, Guard>> {
  const host =
    (permission: string): Guard =>
    (context) =>
      assertHost(auth, context, permission);
  return logged(auth, {
    user: (context) => {
      if (!context.values.get('user_id')[1]) throw unauthorized(context);
    },
    session: (context) => {
      if (context.principal.kind !== 'user' && context.principal.kind !== 'host')
        throw unauthorized(context);
    },
    proof: (context) => guardProof(auth, context),
    admin: async (context, { method }, koa) => {
      await auth.limits.enforce(koa, [{ policy: 'admin', subject: adminSubject(context) }]);
      assertAdmin(context, method === 'GET' ? ['auth:read', 'auth:manage'] : ['auth:manage']);
    },
    impersonate: (context) => guardImpersonation(auth, context),
    host: host('host:manage'),
    ...Object.fromEntries(
      JOB_PERMISSIONS.map((permission) => [
        permission,
        (context: RequestContext) => assertAdmin(context, [permission]),
      ]),
    ),
    ...Object.fromEntries(HOST_PERMISSIONS.map((permission) => [permission, host(permission)])),
  });
}

/** Only a person who is signed in may act as a user: no key, and no request that has one. */
async function guardImpersonation(auth: AuthState, context: RequestContext): Promise<void> {
  const { principal } = context;
  if (principal.kind === 'api_key' || presentedKey(context)) throw failure.forbidden();
  if (principal.kind !== 'user') throw unauthorized(context);
  if (!hasScope(principal.permissions, 'auth:impersonate')) throw failure.forbidden();
  await guardProof(auth, context);
}

/** Wraps guards so that each refusal is logged with caller, route and guard (ASVS 16.3.2). */
function logged(
  auth: AuthState,
  guards: Readonly<Record<string, Guard>>,
): Readonly<Record<string, Guard>> {
  const logging =
    (name: string, guard: Guard): Guard =>
    (context, route, koa) => {
      const refused = (error: unknown): never => {
        const { actor, ip, requestId } = callerOf(context);
        const status = error instanceof AppError ? error.status : 500;
        auth.log.warn(
          { requestId, actor, ip, guard: name, method: route.method, route: route.path, status },
          'a guard refused',
        );
        koa.state['refusal'] = 'logged';
        throw error;
      };
      try {
        // Most guards are synchronous, and then this creates no promise.
        return guard(context, route, koa)?.catch(refused);
      } catch (error) {
        return refused(error);
      }
    };
  return Object.fromEntries(
    Object.entries(guards).map(([name, guard]) => [name, logging(name, guard)]),
  );
}

function adminSubject({ principal, ip }: RequestContext): string {
  return principal.kind === 'api_key' || principal.kind === 'user'
    ? `${principal.kind}:${principal.id}`
    : addressKey(ip);
}

/** The caller needs one of the `sufficient` permissions. */
function assertAdmin(context: RequestContext, sufficient: readonly string[]): void {
  const held = heldBy(context);
  if (sufficient.some((permission) => hasScope(held, permission))) return;
  const { kind } = context.principal;
  if (kind === 'api_key' || kind === 'user') throw failure.forbidden();
  throw failure.unauthenticated('API key required');
}

/**
 * Users may use hosting if the manifest allows it; those with a role of an application may always.
 */
const mayOperate = (auth: AuthState, { role }: Extract<Principal, { kind: 'user' }>): boolean =>
  auth.project.hosting?.access === 'users' ||
  (role !== null && rolePermissions(auth.applications, role.name).length > 0);

/** Accepts the operator, a key with the scope, or a user with the permission if users may host. */
function assertHost(auth: AuthState, context: RequestContext, permission: string): void {
  const { principal } = context;
  const { hosting } = auth.project;
  const suffices = (held: readonly string[]) =>
    hasScope(held, permission) || hasScope(held, 'host:manage');
  // Keys of other capabilities, such as those for models, bring their scopes along.
  const own = principal.kind === 'api_key' ? principal.scopes : [];
  if (principal.kind === 'host' || suffices(presentedKey(context)?.scopes ?? own)) return;
  const operates = principal.kind === 'user' && mayOperate(auth, principal);
  if (operates && suffices(principal.permissions)) return;
  if (principal.kind === 'api_key' || operates)
    throw failure.forbidden(`Permission ${permission} is required`);
  // With a console, users who have signed in without the permission get 403.
  if (principal.kind === 'user' && auth.applications.size > 0) throw failure.forbidden();
  if (auth.config.host === null && hosting && hosting.access !== 'users')
    throw failure.forbidden('Setup required');
  throw unauthorized(context);
}
