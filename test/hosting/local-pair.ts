import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificatePair } from '../../runtime/hosting/ingress/ingress.ts';

/** A certificate for one host that openssl signs with its own key. */
export function createLocalPair(host: string): CertificatePair {
  const folder = mkdtempSync(join(tmpdir(), 'tf-pair-'));
  const [key, certificate] = [join(folder, 'key'), join(folder, 'crt')];
  const args = [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', key, '-out', certificate, '-days', '2', '-subj', '/CN=x'],
    ...['-addext', `subjectAltName=DNS:${host}`],
  ];
  try {
    execFileSync('openssl', args, { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
