import { X509Certificate, createPrivateKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { failure } from '../../errors.ts';
import type { Seal } from '../records/seal.ts';
import type { Vault } from '../records/vault.ts';
import type { CertificatePair, Ingress } from '../ingress/ingress.ts';
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

interface State extends CertificateOptions {
  readonly known: Map<string, Known>;
  /** When a host that was refused is asked for again: authorities count failures. */
  readonly notBefore: Map<string, { readonly at: number; readonly pause: number }>;
  readonly signal: AbortSignal;
}

export function createCertificates(options: CertificateOptions): Certificates {
  const abort = new AbortController();
  const state: State = { ...options, known: new Map(), notBefore: new Map(), signal: abort.signal };
  const enabled = options.acme.email !== null || options.acme.directory !== null;
  let loop: Promise<void> = Promise.resolve();
  let wake = () => {};
  return {
    load: () => load(state),
    has: (host) => state.known.has(host),
    async put(hosts, pair) {
      const covered = assertPair(hosts, pair, options.now());
      for (const host of covered) await keep(state, { host, pair, source: 'own' });
      return { hosts: covered, expires_at: new Date(expiryOf(pair.certificate)).toISOString() };
    },
    start() {
      if (!enabled) return;
      loop = (async () => {
        while (!abort.signal.aborted) {
          await look(state);
          const woken = new Promise<void>((resolve) => (wake = resolve));
          await Promise.race([sleep(HOUR / 60, undefined, { signal: abort.signal, ref: false }).catch(() => {}), woken]);
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

async function load({ store, seal, known, ingress }: State): Promise<void> {
  for (const { domain, certificate, sealed, source, expires_at } of await store.db.selectFrom('hosting_certificates').selectAll().execute()) {
    known.set(domain, { expires: Date.parse(expires_at), own: source === 'own' });
    ingress.certify(domain, { certificate, key: seal.open(sealed, `certificate:${domain}`) });
  }
}

async function keep({ store, seal, known, ingress }: State, { host, pair, source }: { readonly host: string; readonly pair: CertificatePair; readonly source: 'own' | 'acme' }): Promise<void> {
  const expires = expiryOf(pair.certificate);
  const sealed = seal.seal(pair.key, `certificate:${host}`);
  const row = { domain: host, certificate: pair.certificate, sealed, source, expires_at: new Date(expires).toISOString() };
  await store.db.insertInto('hosting_certificates').values(row).onConflict((conflict) => conflict.column('domain').doUpdateSet(row)).execute();
  known.set(host, { expires, own: source === 'own' });
  ingress.certify(host, pair);
}

/** Gets what is missing or soon over, one after the other. */
async function look(state: State): Promise<void> {
  const { notBefore, now, log, signal } = state;
  for (const host of state.hosts()) {
    if (signal.aborted || !isDue(state, host)) continue;
    await issue(state, host).catch((error: Error) => {
      const pause = Math.min(24 * HOUR, (notBefore.get(host)?.pause ?? HOUR / 60) * 4);
      notBefore.set(host, { at: now() + pause, pause });
      if (!signal.aborted) log.warn(`no certificate for ${host}: ${error.message}`);
    });
  }
}

/** Names that no authority can check are left out. */
function isDue({ known, notBefore, now }: State, host: string): boolean {
  const certificate = known.get(host);
  if (certificate?.own || host.startsWith('*.') || !host.includes('.') || host.endsWith('.localhost')) return false;
  return (notBefore.get(host)?.at ?? 0) <= now() && (!certificate || certificate.expires - now() < RENEW_BEFORE);
}

async function issue(state: State, host: string): Promise<void> {
  const { vault, acme, ingress, signal, log } = state;
  const accountKey = (await vault.get(ACCOUNT_KEY)) ?? createAccountKey();
  await vault.set(ACCOUNT_KEY, accountKey);
  const pair = await issueCertificate([host], { directory: acme.directory ?? LETS_ENCRYPT, email: acme.email, accountKey, answer: ingress.challenge, signal, ...(state.fetch && { fetch: state.fetch }) });
  await keep(state, { host, pair, source: 'acme' });
  state.notBefore.delete(host);
  log.info(`certificate for ${host} until ${new Date(expiryOf(pair.certificate)).toISOString()}`);
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
