import type { AuditLog } from '../audit.ts';
import { asFullDisk } from '../full-disk.ts';
import type { Call, Handler, Reply } from '@twofold/runtime/http';

/** The handlers of routes, by the id of the route. */
export type Handlers = Readonly<Record<string, Handler>>;

const READS = new Set(['GET']);

/**
 * Adds to each handler an entry in the audit log when it changes something, and turns a full disk
 * into 507.
 */
export function audited<T extends Handlers>(handlers: T, audit: AuditLog): T {
  return Object.fromEntries(
    Object.entries(handlers).map(([id, handle]) => {
      const recorded = withAuditEntry(handle, audit);
      return [id, (call: Call) => recorded(call).catch(asFullDisk)];
    }),
  ) as T;
}

function withAuditEntry(handle: Handler, audit: AuditLog): (call: Call) => Promise<Reply> {
  return async (call) => {
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

function targetOf({ params, body }: Call): string {
  return params['name'] ?? (body as { name?: string } | undefined)?.name ?? params['id'] ?? '';
}

/**
 * The names of the changed fields and some harmless values, never a value of the environment, a
 * command or a token.
 */
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
