import { X509Certificate, createPrivateKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { failure } from '../../errors.ts';
import type { Seal } from '../records/seal.ts';
import type { Vault } from '../records/vault.ts';
import type { Ingress } from '../ingress/ingress.ts';
import type { Store } from '../../store/store.ts';
import { createAccountKey, issueCertificate } from './acme.ts';

/** Certificates by host name: our users' own, and those from a certificate authority. */
export interface Certificates {
  load(): Promise<void>;
  has(host: string): boolean;
  /** Keeps a certificate of the user's own for those of the hosts that it is for. @throws AppError 400 */
  put(hosts: readonly string[], pair: { readonly certificate: string; readonly key: string }): Promise<{ readonly hosts: string[]; readonly expires_at: string }>;
  /** Gets what is missing or soon over, for hosts that exist and no others. */
  start(): void;
  /** Looks at once: a host is new. */
  wake(): void;
  stop(): Promise<void>;
}

export interface CertificateOptions {
  readonly store: Store;
  readonly seal: Seal;
  readonly vault: Vault;
  readonly log: Logger;
  readonly now: () => number;
  /** Where certificates and the texts of challenges are served. */
  readonly ingress: Pick<Ingress, 'certify' | 'challenge'>;
  /** Every host that an app has now. */
  readonly hosts: () => readonly string[];
  readonly acme: { readonly email: string | null; readonly directory: string | null };
  /** For an authority whose own certificate this process does not trust by itself. */
  readonly fetch?: typeof fetch;
}

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';
const HOUR = 3_600_000;
/** A third of the life of a certificate of 90 days, which is the usual one. */
const RENEW_BEFORE = 30 * 24 * HOUR;
const ACCOUNT_KEY = 'acme:account';

interface Known {
  readonly expires: number;
  readonly own: boolean;
}

export function createCertificates(options: CertificateOptions): Certificates {
  const { store, seal, vault, log, now, ingress } = options;
  const known = new Map<string, Known>();
  /** When a host that was refused is asked for again: authorities count failures. */
  const notBefore = new Map<string, { at: number; pause: number }>();
  const abort = new AbortController();
  const enabled = options.acme.email !== null || options.acme.directory !== null;
  let loop: Promise<void> = Promise.resolve();
  let wake = () => {};

  const keep = async (host: string, { certificate, key }: { certificate: string; key: string }, source: 'own' | 'acme') => {
    const expires = expiryOf(certificate);
    const row = { domain: host, certificate, sealed: seal.seal(key, `certificate:${host}`), source, expires_at: new Date(expires).toISOString() };
    await store.db.insertInto('hosting_certificates').values(row).onConflict((conflict) => conflict.column('domain').doUpdateSet(row)).execute();
    known.set(host, { expires, own: source === 'own' });
    ingress.certify(host, { certificate, key });
  };
  const isDue = (host: string) => {
    const certificate = known.get(host);
    if (certificate?.own || host.startsWith('*.') || !host.includes('.') || host.endsWith('.localhost')) return false;
    return (notBefore.get(host)?.at ?? 0) <= now() && (!certificate || certificate.expires - now() < RENEW_BEFORE);
  };
  const issue = async (host: string) => {
    const accountKey = (await vault.get(ACCOUNT_KEY)) ?? createAccountKey();
    await vault.set(ACCOUNT_KEY, accountKey);
    const issued = await issueCertificate([host], { directory: options.acme.directory ?? LETS_ENCRYPT, email: options.acme.email, accountKey, answer: ingress.challenge, signal: abort.signal, ...(options.fetch && { fetch: options.fetch }) });
    await keep(host, issued, 'acme');
    notBefore.delete(host);
    log.info(`certificate for ${host} until ${new Date(known.get(host)?.expires ?? 0).toISOString()}`);
  };
  const look = async () => {
    for (const host of options.hosts()) {
      if (!isDue(host)) continue;
      await issue(host).catch((error: Error) => {
        const pause = Math.min(24 * HOUR, (notBefore.get(host)?.pause ?? HOUR / 60) * 4);
        notBefore.set(host, { at: now() + pause, pause });
        if (!abort.signal.aborted) log.warn(`no certificate for ${host}: ${error.message}`);
      });
    }
  };

  return {
    async load() {
      for (const row of await store.db.selectFrom('hosting_certificates').selectAll().execute()) {
        const key = seal.open(row['sealed'], `certificate:${row['domain']}`);
        known.set(row['domain'], { expires: Date.parse(row['expires_at']), own: row['source'] === 'own' });
        ingress.certify(row['domain'], { certificate: row['certificate'], key });
      }
    },
    has: (host) => known.has(host),
    async put(hosts, pair) {
      const covered = assertPair(hosts, pair, now());
      for (const host of covered) await keep(host, pair, 'own');
      return { hosts: covered, expires_at: new Date(expiryOf(pair.certificate)).toISOString() };
    },
    start() {
      if (!enabled) return;
      loop = (async () => {
        while (!abort.signal.aborted) {
          await look();
          await Promise.race([sleep(HOUR / 60, undefined, { signal: abort.signal, ref: false }).catch(() => {}), new Promise<void>((resolve) => (wake = resolve))]);
        }
      })();
    },
    wake: () => wake(),
    async stop() {
      abort.abort();
      wake();
      await loop;
    },
  };
}

function assertPair(hosts: readonly string[], { certificate, key }: { certificate: string; key: string }, now: number): string[] {
  const parsed = parse(certificate, key);
  if (!parsed.certificate.checkPrivateKey(parsed.key)) throw failure.badRequest('key does not belong to the certificate');
  if (parsed.certificate.validToDate.getTime() <= now) throw failure.badRequest('certificate has expired');
  const names = (parsed.certificate.subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, '').toLowerCase());
  const covered = hosts.filter((host) => names.includes(host) || (!host.startsWith('*.') && parsed.certificate.checkHost(host) !== undefined));
  if (covered.length === 0) throw failure.badRequest('certificate is for none of the app\'s domains');
  return covered;
}

function parse(certificate: string, key: string) {
  try {
    return { certificate: new X509Certificate(certificate), key: createPrivateKey(key) };
  } catch {
    throw failure.badRequest('certificate and key must be PEM');
  }
}

const expiryOf = (certificate: string) => new X509Certificate(certificate).validToDate.getTime();
