import type { HostingStore } from '../records/tables.ts';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '@twofold/runtime/errors';
import type { Logger } from '@twofold/runtime/kernel';
import type { Seal } from '../records/seal.ts';
import type { Vault } from '../records/settings-table.ts';
import type { CertificatePair, Ingress } from '../ingress/ingress.ts';
import { createAccountKey, type ExternalAccount, issueCertificate } from './acme.ts';
import { askRenewal } from './renewal-info.ts';

/** Certificates by host name: those of users, and those from a certificate authority (CA). */
export interface Certificates {
  load(): Promise<void>;
  has(host: string): boolean;
  /** Stores a user's own certificate for those of the hosts that it covers. @throws AppError 400 */
  put(
    hosts: readonly string[],
    pair: CertificatePair,
    own?: boolean,
  ): Promise<{ readonly hosts: string[]; readonly expires_at: string }>;
  /** The certificates of these hosts with their keys. `own` ones are not renewed. */
  pairs(
    hosts: readonly string[],
  ): Promise<readonly (CertificatePair & { readonly own: boolean })[]>;
  /** Starts to request missing certificates and to renew old ones, only for hosts that exist. */
  start(): void;
  /** Checks all hosts at once, because a host was added. */
  wake(): void;
  stop(): Promise<void>;
}

export interface CertificateOptions {
  readonly store: HostingStore;
  readonly seal: Seal;
  readonly vault: Vault;
  readonly log: Logger;
  readonly now: () => number;
  /** Serves the certificates and the texts of challenges. */
  readonly ingress: Pick<Ingress, 'certify' | 'challenge'>;
  /** All hosts of all apps at the moment of the call. */
  readonly hosts: () => readonly string[];
  /** Called when the CA has issued a certificate, or with the error of a host without one. */
  readonly onOutcome?: (host: string, error: Error | null) => void;
  readonly acme: {
    readonly email: string | null;
    readonly directory: string | null;
    readonly externalAccount?: ExternalAccount | null;
  };
  /** For a CA whose own certificate is not trusted by this process by default. */
  readonly fetch?: typeof fetch;
}

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/**
 * A third of the usual lifetime of 90 days. A certificate with a shorter lifetime is renewed in the
 * last third of it.
 */
const RENEW_BEFORE = 30 * DAY;
const ACCOUNT_KEY = 'acme:account';

interface KnownCertificate {
  readonly expires: number;
  readonly renewAt: number;
  readonly own: boolean;
  readonly certificate: string;
  /** When to ask the CA again for the time of the renewal. */
  readonly askAt: number;
}

interface State extends CertificateOptions {
  readonly known: Map<string, KnownCertificate>;
  /** When to try a refused host again, because CAs limit the number of failures. */
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
    pairs: (hosts) => readPairs(state, hosts),
    async put(hosts, pair, own = true) {
      const covered = assertPair(hosts, pair, options.now());
      const source = own ? 'own' : 'acme';
      for (const host of covered) await saveCertificate(state, { host, pair, source });
      return { hosts: covered, expires_at: dateOf(lifeOf(pair.certificate).expires) };
    },
    start() {
      if (!enabled) return;
      loop = (async () => {
        while (!abort.signal.aborted) {
          // Created first, because a host may be added while the others are checked.
          const woken = new Promise<void>((resolve) => (wake = resolve));
          await renewAll(state);
          await Promise.race([
            sleep(MINUTE, undefined, { signal: abort.signal, ref: false }).catch(() => {}),
            woken,
          ]);
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

async function readPairs({ store, seal }: State, hosts: readonly string[]) {
  if (hosts.length === 0) return [];
  const rows = await store.db
    .selectFrom('hosting_certificates')
    .selectAll()
    .where('domain', 'in', hosts)
    .execute();
  return rows.map(({ domain, certificate, sealed, source }) => ({
    certificate,
    own: source === 'own',
    key: seal.open(sealed, `certificate:${domain}`),
  }));
}

async function load({ store, seal, known, ingress }: State): Promise<void> {
  for (const { domain, certificate, sealed, source } of await store.db
    .selectFrom('hosting_certificates')
    .selectAll()
    .execute()) {
    known.set(domain, { ...lifeOf(certificate), certificate, askAt: 0, own: source === 'own' });
    ingress.certify(domain, { certificate, key: seal.open(sealed, `certificate:${domain}`) });
  }
}

async function saveCertificate(
  { store, seal, known, ingress }: State,
  {
    host,
    pair,
    source,
  }: { readonly host: string; readonly pair: CertificatePair; readonly source: 'own' | 'acme' },
): Promise<void> {
  const life = lifeOf(pair.certificate);
  const sealed = seal.seal(pair.key, `certificate:${host}`);
  const row = {
    domain: host,
    certificate: pair.certificate,
    sealed,
    source,
    expires_at: dateOf(life.expires),
  };
  await store.db
    .insertInto('hosting_certificates')
    .values(row)
    .onConflict((conflict) => conflict.column('domain').doUpdateSet(row))
    .execute();
  known.set(host, {
    ...life,
    certificate: pair.certificate,
    askAt: 0,
    own: source === 'own',
  });
  ingress.certify(host, pair);
}

/** Requests missing certificates and renews those that are due, one after the other. */
async function renewAll(state: State): Promise<void> {
  const { notBefore, now, log, signal } = state;
  for (const host of state.hosts()) {
    if (signal.aborted) return;
    await askWhenToRenew(state, host).catch((error: Error) =>
      log.info(`when to renew the certificate for ${host} is not known: ${error.message}`),
    );
    if (signal.aborted || !isDue(state, host)) continue;
    await issue(state, host).catch((error: Error) => {
      const pause = nextPause(state, host);
      notBefore.set(host, { at: now() + pause, pause });
      if (signal.aborted) return;
      log.warn(`no certificate for ${host}: ${error.message}`);
      state.onOutcome?.(host, error);
    });
  }
}

/** Replaces our own time of the renewal with the CA's, which is asked as often as it allows. */
async function askWhenToRenew(state: State, host: string): Promise<void> {
  const { known, acme, signal, now } = state;
  const certificate = known.get(host);
  if (!certificate || certificate.own || certificate.renewAt <= now() || certificate.askAt > now())
    return;
  known.set(host, { ...certificate, askAt: now() + HOUR });
  const { at, askAgain } = await askRenewal(certificate.certificate, {
    directory: acme.directory ?? LETS_ENCRYPT,
    signal,
    now: now(),
    ...(state.fetch && { fetch: state.fetch }),
  });
  const renewAt = Number.isNaN(at) ? certificate.renewAt : Math.min(at, certificate.expires);
  known.set(host, { ...certificate, renewAt, askAt: askAgain });
}

/**
 * The pause after a refusal. It is four times longer after each refusal, at most a day. While the
 * host still has a valid certificate, the pause is at most a quarter of the remaining time.
 */
function nextPause({ known, notBefore, now }: State, host: string): number {
  const left = (known.get(host)?.expires ?? 0) - now();
  const most = left > 0 ? Math.min(DAY, Math.max(MINUTE, left / 4)) : DAY;
  return Math.min(most, (notBefore.get(host)?.pause ?? MINUTE) * 4);
}

/** Whether to request a certificate now. Names that no CA can verify are never due. */
function isDue({ known, notBefore, now }: State, host: string): boolean {
  const certificate = known.get(host);
  if (
    certificate?.own ||
    host.startsWith('*.') ||
    !host.includes('.') ||
    isIP(host) !== 0 ||
    host.endsWith('.localhost')
  )
    return false;
  return (notBefore.get(host)?.at ?? 0) <= now() && (!certificate || certificate.renewAt <= now());
}

async function issue(state: State, host: string): Promise<void> {
  const { vault, acme, ingress, signal, log } = state;
  const accountKey = (await vault.get(ACCOUNT_KEY)) ?? createAccountKey();
  await vault.set(ACCOUNT_KEY, accountKey);
  const pair = await issueCertificate([host], {
    directory: acme.directory ?? LETS_ENCRYPT,
    email: acme.email,
    externalAccount: acme.externalAccount ?? null,
    replaces: state.known.get(host)?.certificate,
    accountKey,
    answer: ingress.challenge,
    signal,
    ...(state.fetch && { fetch: state.fetch }),
  });
  await saveCertificate(state, { host, pair, source: 'acme' });
  state.notBefore.delete(host);
  state.onOutcome?.(host, null);
  log.info(`certificate for ${host} until ${dateOf(lifeOf(pair.certificate).expires)}`);
}

function assertPair(
  hosts: readonly string[],
  { certificate, key }: { certificate: string; key: string },
  now: number,
): string[] {
  const parsed = parse(certificate, key);
  if (!parsed.certificate.checkPrivateKey(parsed.key))
    throw failure.badRequest('key does not belong to the certificate');
  if (parsed.certificate.validToDate.getTime() <= now)
    throw failure.badRequest('certificate has expired');
  const names = (parsed.certificate.subjectAltName ?? '')
    .split(', ')
    .map((name) => name.replace(/^DNS:/, '').toLowerCase());
  const covered = hosts.filter(
    (host) =>
      names.includes(host) ||
      (!host.startsWith('*.') && parsed.certificate.checkHost(host) !== undefined),
  );
  if (covered.length === 0)
    throw failure.badRequest(`certificate is for none of these hosts: ${hosts.join(', ')}`);
  return covered;
}

function parse(certificate: string, key: string) {
  try {
    return { certificate: new X509Certificate(certificate), key: createPrivateKey(key) };
  } catch {
    throw failure.badRequest('certificate and key must be PEM');
  }
}

function lifeOf(certificate: string): { readonly expires: number; readonly renewAt: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  const expires = validToDate.getTime();
  return {
    expires,
    renewAt: expires - Math.min(RENEW_BEFORE, (expires - validFromDate.getTime()) / 3),
  };
}

const dateOf = (time: number) => new Date(time).toISOString();
