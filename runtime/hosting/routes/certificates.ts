import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import type { Certificates } from '../tls/certificates.ts';

export function certificateHandlers(core: Core, certificates: Certificates) {
  return {
    async putCertificate({
      params,
      body,
    }: Call<{ readonly certificate: string; readonly key: string }>) {
      const { spec } = core.apps.byName(params['name'] as string);
      return reply(200, await certificates.put([spec.domain, ...spec.aliases], body));
    },
  };
}
