import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';

/** The certificates of exact host names and of names such as `*.example.test`. */
export interface HostCertificates {
  set(host: string, pair: { readonly certificate: string; readonly key: string }): void;
  find(host: string): SecureContext | undefined;
  /** Whether the host has a certificate that has not expired. */
  valid(host: string): boolean;
}

interface HostCertificate {
  readonly context: SecureContext;
  readonly until: number;
}

export function createHostCertificates(now: () => number): HostCertificates {
  const held = new Map<string, HostCertificate>();
  const find = (host: string) =>
    held.get(host) ?? held.get(`*${host.slice(Math.max(0, host.indexOf('.')))}`);
  return {
    set: (host, { certificate, key }) =>
      void held.set(host, {
        context: createSecureContext({ cert: certificate, key }),
        until: new X509Certificate(certificate).validToDate.getTime(),
      }),
    find: (host) => find(host)?.context,
    valid: (host) => (find(host)?.until ?? 0) > now(),
  };
}
