import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { domainsOf } from '../records/worker.ts';
import type { Certificates } from '../tls/certificates.ts';

type PairCall = Call<{ readonly certificate: string; readonly key: string }>;

/** @param ownHost The host of `APP_URL`, if the ingress serves it. */
export function certificateHandlers(
  core: Core,
  certificates: Certificates,
  ownHost: string | null,
) {
  return {
    async putCertificate({ params, body }: PairCall) {
      const domains = domainsOf(core.apps.byName(params['name'] as string).spec);
      if (domains.length === 0) throw failure.badRequest('A worker has no domain');
      return reply(200, await certificates.put(domains, body));
    },

    async putSystemCertificate({ body }: PairCall) {
      if (ownHost === null)
        throw failure.conflict(
          'The ingress does not serve this server: set APP_URL, and hosting.ingress.api to true',
        );
      return reply(200, await certificates.put([ownHost], body));
    },
  };
}
