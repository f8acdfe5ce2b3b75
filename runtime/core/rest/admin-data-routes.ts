import { ADMIN_DATA, adminDataRoutes } from '@twofold/schema';
import type { Middleware } from 'koa';
import { bindRoutes, type BoundRoute } from '../http/route.ts';
import type { AdminData, AdminDataOptions } from './admin-data.ts';
import { onFirstUse } from './on-first-use.ts';

/** The routes of `/api/data`. Their code is loaded with the first request. */
export function adminDataRoutesOf(options: AdminDataOptions): {
  readonly endpoint: Middleware;
  readonly routes: readonly BoundRoute[];
} {
  let made: Promise<AdminData> | undefined;
  const load = () =>
    (made ??= import('./admin-data.ts').then(({ createAdminData }) => createAdminData(options)));
  const below = onFirstUse(async () => (await load()).endpoint);
  return {
    routes: bindRoutes(adminDataRoutes, {
      adminDataTypes: async (call) => (await load()).types(call),
    }),
    endpoint: (ctx, next) => (ctx.path.startsWith(`${ADMIN_DATA}/`) ? below(ctx, next) : next()),
  };
}
