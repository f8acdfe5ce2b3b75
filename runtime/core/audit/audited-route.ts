import type { BoundRoute, Call, Reply } from '../http/route.ts';
import type { Kernel } from '../module.ts';
import type { AuditLog } from './audit-log.ts';
import { describeCall, isAudited } from './describe-call.ts';

/**
 * Records the calls of a route that change something with a permission. Routes are wrapped where
 * they are mounted, so that none can be forgotten.
 */
export function auditedRoute({ audit, store }: Kernel, route: BoundRoute): BoundRoute {
  const { spec, handle } = route;
  if (!audit || !isAudited(spec)) return route;
  const { atomic = false } = spec.audit || {};
  const recorded = async (call: Call): Promise<Reply> => {
    const answer = await handle(call);
    if (answer.status < 400 && !isRecorded(audit, call, atomic))
      await audit.record(call.context, describeCall(call, answer));
    return answer;
  };
  return { spec, handle: atomic ? (call) => store.transaction(() => recorded(call)) : recorded };
}

/**
 * Whether the handler has recorded the call itself. What it wrote in a transaction of its own counts
 * only after the commit.
 */
function isRecorded(audit: AuditLog, { context }: Call, atomic: boolean): boolean {
  const state = audit.stateOf(context);
  return state === 'committed' || (atomic && state === 'running');
}
