import * as shape from '../route-shapes.ts';

export const response = (
  description: string,
  schema: Record<string, unknown> | typeof shape.app = shape.anything,
) => ({ description, schema });
export const REFUSED = {
  description: 'The reason; nothing was changed',
  schema: shape.error,
} as const;
export const refused = { 400: REFUSED, 401: REFUSED, 403: REFUSED, 500: REFUSED } as const;
export const onApp = { ...refused, 404: REFUSED } as const;
/** Further errors of calls that reach the engine. */
export const onEngine = {
  ...onApp,
  409: REFUSED,
  502: REFUSED,
  503: REFUSED,
  507: REFUSED,
} as const;

export const MIB = 1024 * 1024;
export const wait = { wait: { type: 'boolean', default: false } } as const;
export const body = (schema: Readonly<Record<string, unknown>>, optional = false) =>
  ({ kind: 'json', schema, limit: MIB, optional }) as const;
/** `access` is the needed permission. `area:*`, `*` and `host:manage` include it. */
const needs = <const Permission extends string>(access: Permission) =>
  ({ access, tag: 'hosting' }) as const;
export const open = needs('public');
export const reads = needs('apps:read');
export const writes = needs('apps:write');
export const runs = needs('apps:exec');
export const readsSystem = needs('system:read');
export const changesSystem = needs('system:write');
