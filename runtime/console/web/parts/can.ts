import { description } from '../session.ts';

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

/** `*` is everything, `apps:*` every action on apps, `*:read` every read. */
function includes(scope: string, permission: string): boolean {
  if (scope === '*' || scope === permission) return true;
  if (scope === '*:read') return permission.endsWith(':read');
  return scope.endsWith(':*') && permission.startsWith(scope.slice(0, -1));
}
