import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
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
      const { spec } = core.apps.byName(params['name'] as string);
      return reply(200, await certificates.put([spec.domain, ...spec.aliases], body));
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
