import type { AuditLog } from '../audit.ts';
import { failure } from '../../errors.ts';
import type { Call, Handler } from '../../http/route.ts';

/** Calls that change something, and how the audit log names them. */
export type Handlers = Readonly<Record<string, Handler>>;

const READS = new Set(['GET']);

/**
 * Adds to each handler what every one needs: the finer permission of a caller that is not the host, and the audit log
 * for those that change something.
 */
export function guarded<T extends Handlers>(handlers: T, audit: AuditLog): T {
  return Object.fromEntries(
    Object.entries(handlers).map(([id, handle]) => [id, guard(handle, audit)]),
  ) as T;
}

function guard(handle: Handler, audit: AuditLog): Handler {
  return async (call) => {
    assertPermitted(call);
    const answer = await handle(call);
    const { method, id, access } = call.route;
    if (!READS.has(method) && access !== 'public')
      await audit.record(call.context, {
        action: id,
        target: targetOf(call),
        detail: detailOf(call),
      });
    return answer;
  };
}

/** The route's guard says who may come in at all; a user or a key also needs the permission for this call. */
function assertPermitted({ context, route }: Call): void {
  if (route.access === 'public') return;
  const { principal } = context;
  const granted = grantedTo(principal);
  const wanted = permissionFor(route.id, route.method);
  const [area] = wanted.split(':');
  if (![wanted, `${area}:*`, '*', 'host:manage'].some((permission) => granted.includes(permission)))
    throw failure.forbidden(`Permission ${wanted} is required`);
}

function grantedTo(principal: Call['context']['principal']): readonly string[] {
  if (principal.kind === 'user') return principal.permissions;
  if (principal.kind === 'api_key') return principal.scopes;
  return principal.kind === 'host' ? ['*'] : [];
}

function permissionFor(id: string, method: string): string {
  if (id === 'execInApp') return 'apps:exec';
  const area = ['systemInfo', 'systemConfig', 'prune', 'auditLog', 'allMetrics'].includes(id)
    ? 'system'
    : 'apps';
  return `${area}:${READS.has(method) ? 'read' : 'write'}`;
}

function targetOf({ params, body }: Call): string {
  return params['name'] ?? (body as { name?: string } | undefined)?.name ?? params['id'] ?? '';
}

/** Names of fields and what is no secret: never a value of an environment, a command or a token. */
function detailOf({ body, params, query }: Call): Record<string, unknown> {
  const fields = Object.keys((body as object | undefined) ?? {});
  const { image, deployment } = (body ?? {}) as { image?: unknown; deployment?: unknown };
  return {
    ...(fields.length > 0 && { fields: fields.slice(0, 50) }),
    ...(image !== undefined && { image }),
    ...(deployment !== undefined && { deployment }),
    ...(params['key'] !== undefined && { key: params['key'] }),
    ...(query && Object.keys(query).length > 0 && { query }),
  };
}
