import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { readAccessLog } from '../ingress/read-access-log.ts';
import { sinceOf } from './logs.ts';

/** The last requests of an app, as the access log has them. */
export function requestHandlers(core: Core, directory: string | null) {
  return {
    async appRequests({ params, query }: Call) {
      const { name } = core.apps.byName(params['name'] as string);
      const seconds = sinceOf(query.since);
      if (directory === null) return reply(200, { requests: [], total: 0 });
      await core.ingress.flushLog();
      const page = await readAccessLog(directory, {
        app: name,
        status: query.status,
        since: seconds === undefined ? undefined : seconds * 1000,
        limit: query.limit,
      });
      return reply(200, page);
    },
  };
}
