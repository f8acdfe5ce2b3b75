import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.ts';

/** A certificate with its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'.split(' ');

/** Makes an authority of its own, which makes certificates. */
export function createAuthority(directory: string, name: string) {
  const path = (end: string) => join(directory, `${name}.${end}`);
  const request = (of: string, args: readonly string[]) =>
    run('openssl', ['req', ...KEY, '-keyout', path(`${of}.key`), '-subj', `/CN=${of}`, ...args]);
  request('ca', ['-x509', '-out', path('ca.pem'), '-days', '30']);
  return {
    path: path('ca.pem'),
    cert: readFileSync(path('ca.pem'), 'utf8'),
    /** @param days fewer than none for one that is out of date. */
    issue(subject: string, days = 30): Certificate {
      const [csr, pem] = [path('csr'), path('pem')];
      request(subject, ['-out', csr, '-addext', `subjectAltName=DNS:${subject}`]);
      const ca = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-CAcreateserial'];
      const made = ['-days', String(days), '-copy_extensions', 'copy', '-out', pem];
      run('openssl', ['x509', '-req', '-in', csr, ...ca, ...made]);
      return { cert: readFileSync(pem, 'utf8'), key: readFileSync(path(`${subject}.key`), 'utf8') };
    },
  };
}
