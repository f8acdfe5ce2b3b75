import { description } from '../description.ts';

/**
 * Whether the caller holds a permission. The server decides in any case; this keeps a control away
 * whose call would be refused.
 *
 * @example {can('apps:write') && <button type="button">{t('Deploy')}</button>}
 */
export function can(permission: string): boolean {
  const held = description.value?.caller?.permissions ?? [];
  return held.some((scope) => includes(scope, permission));
}

/** The `x-callers` of an operation: who its rules may let in. */
export interface Callers {
  readonly roles?: readonly string[];
  readonly keys?: false;
}

/** Whether the rules of an operation may let the caller in. The operator acts as a key. */
export function isAmong({ roles, keys }: Callers = {}): boolean {
  const caller = description.value?.caller;
  if (caller?.kind === 'host') return keys !== false;
  return roles === undefined || roles.includes(caller?.role ?? '');
}

/** `*` is everything, `apps:*` every action on apps, `*:read` every read. */
function includes(scope: string, permission: string): boolean {
  if (scope === '*' || scope === permission) return true;
  if (scope === '*:read') return permission.endsWith(':read');
  return scope.endsWith(':*') && permission.startsWith(scope.slice(0, -1));
}
