import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@twofold/runtime/errors';
import { createRequest } from './csr.ts';
import { certificateId } from './renewal-info.ts';
import type { Settings } from '@twofold/runtime/kernel';

export interface AcmeOptions {
  /** The URL of the CA's directory. */
  readonly directory: string;
  readonly email: string | null;
  /** For a CA that accepts only accounts that it already knows. */
  readonly externalAccount?: ExternalAccount | null;
  /** The account's private key as PEM. It must stay the same for one account. */
  readonly accountKey: string;
  /** Serves a text for a challenge's token on port 80 of the host. `null` stops that. */
  readonly answer: (token: string, text: string | null) => void;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
  /** The certificate that the new one replaces, as PEM. */
  readonly replaces?: string | undefined;
}

/** An account outside of ACME, with the values from the CA (RFC 8555 §7.3.4). */
export interface ExternalAccount {
  readonly id: string;
  /** The HMAC key as base64url. */
  readonly key: string;
}

export interface Issued {
  /** PEM: the certificate, then its chain. */
  readonly certificate: string;
  readonly key: string;
}

interface AcmeResponse {
  readonly status: number;
  readonly body: any;
  readonly text: string;
  readonly location: string;
}

const MAX_POLLS = 60;

/** Creates a private key for a new account. */
export function createAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

/**
 * Requests a certificate for hosts that resolve to this server (RFC 8555, HTTP-01).
 *
 * @throws AppError 502 with the CA's message.
 */
export async function issueCertificate(
  hosts: readonly string[],
  options: AcmeOptions,
): Promise<Issued> {
  const client = await createClient(options);
  await client.register({
    termsOfServiceAgreed: true,
    ...(options.email && { contact: [`mailto:${options.email}`] }),
    ...externalBinding(client, options.externalAccount),
  });
  const order = await placeOrder(client, hosts, options.replaces);
  for (const url of order.body.authorizations) await authorize(client, url, options);
  const { csr, key } = createRequest(hosts);
  await client.post(order.body.finalize, { csr: csr.toString('base64url') });
  const done = await pollUntilDone(client, order.location);
  if (done.status !== 'valid') throw refusal('the order was not granted', done);
  return { certificate: (await client.post(done.certificate, null)).text, key };
}

type Client = Awaited<ReturnType<typeof createClient>>;

/**
 * Binds the new account to the external one: the new account's key, signed with the external
 * account's key (RFC 8555 §7.3.4).
 */
function externalBinding(
  { directory, jwk }: Pick<Client, 'directory' | 'jwk'>,
  account: ExternalAccount | null | undefined,
) {
  if (!account && directory.meta?.externalAccountRequired)
    throw refusal('it needs an external account: set ACME_EAB_ID and ACME_EAB_KEY', null);
  if (!account) return {};
  const header = encode({ alg: 'HS256', kid: account.id, url: directory.newAccount });
  const payload = encode(jwk);
  const signature = createHmac('sha256', Buffer.from(account.key, 'base64url'))
    .update(`${header}.${payload}`)
    .digest('base64url');
  return { externalAccountBinding: { protected: header, payload, signature } };
}

/**
 * Creates the order. A renewal names the certificate that it replaces if the CA supports that (RFC
 * 9773 §5), because the CA's limits do not apply to renewals.
 */
async function placeOrder(
  client: Client,
  hosts: readonly string[],
  replaced: string | undefined,
): Promise<AcmeResponse> {
  const order = { identifiers: hosts.map((value) => ({ type: 'dns', value })) };
  const { newOrder, renewalInfo } = client.directory;
  const replaces = renewalInfo && replaced ? certificateId(replaced) : null;
  if (replaces === null) return client.post(newOrder, order);
  return client.post(newOrder, { ...order, replaces }).catch((error: AppError) => {
    if (!/replace/i.test(error.message)) throw error;
    return client.post(newOrder, order);
  });
}

async function authorize(client: Client, url: string, { answer }: AcmeOptions): Promise<void> {
  const { body } = await client.post(url, null);
  if (body.status === 'valid') return;
  const challenge = body.challenges.find(({ type }: { type: string }) => type === 'http-01');
  if (!challenge) throw refusal('there is no HTTP challenge', body);
  answer(challenge.token, `${challenge.token}.${client.thumbprint}`);
  try {
    await client.post(challenge.url, {});
    const seen = await pollUntilDone(client, url);
    if (seen.status !== 'valid')
      throw refusal(
        `${body.identifier?.value} could not be checked`,
        seen.challenges?.find(({ error }: { error?: unknown }) => error)?.error ?? seen,
      );
  } finally {
    answer(challenge.token, null);
  }
}

/** Polls the URL until the CA has decided. */
async function pollUntilDone(client: Client, url: string): Promise<any> {
  for (let turn = 0; ; turn += 1) {
    const { body } = await client.post(url, null);
    if ((body.status !== 'pending' && body.status !== 'processing') || turn === MAX_POLLS)
      return body;
    await sleep(Math.min(2000, 100 * 1.3 ** turn), undefined, { signal: client.signal });
  }
}

async function createClient(options: AcmeOptions) {
  const { signal, fetch: send = fetch } = options;
  const key = createPrivateKey(options.accountKey);
  const jwk = publicJwk(key);
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  const directory = (await (await send(options.directory, { signal })).json()) as {
    newNonce: string;
    newAccount: string;
    newOrder: string;
    renewalInfo?: string;
    meta?: { externalAccountRequired?: boolean };
  };
  let nonce: string | null = null;
  let account: string | null = null;

  const takeNonce = async () =>
    nonce ??
    (await send(directory.newNonce, { method: 'HEAD', signal })).headers.get('replay-nonce') ??
    '';
  /** A null payload means POST-as-GET (RFC 8555 §6.3). */
  const post = async (url: string, payload: unknown, retries = 3): Promise<AcmeResponse> => {
    const header = {
      alg: 'ES256',
      nonce: await takeNonce(),
      url,
      ...(account ? { kid: account } : { jwk }),
    };
    nonce = null;
    const answer = await send(url, {
      method: 'POST',
      signal,
      headers: { 'Content-Type': 'application/jose+json' },
      body: signJws(key, header, payload),
    });
    nonce = answer.headers.get('replay-nonce');
    const text = await answer.text();
    const body = answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null;
    if (body?.type === 'urn:ietf:params:acme:error:badNonce' && retries > 0)
      return post(url, payload, retries - 1);
    if (answer.status >= 400) throw refusal(`HTTP ${answer.status}`, body);
    return { status: answer.status, body, text, location: answer.headers.get('location') ?? '' };
  };
  return {
    directory,
    thumbprint,
    jwk,
    post,
    signal,
    register: async (details: object) =>
      void (account = (await post(directory.newAccount, details)).location),
  };
}

/** RFC 7638 hashes the members in this order. */
function publicJwk(key: KeyObject) {
  const { crv, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty: 'EC', x, y };
}

const encode = (value: unknown) =>
  value === null ? '' : Buffer.from(JSON.stringify(value)).toString('base64url');

function signJws(key: KeyObject, header: object, payload: unknown): string {
  const text = `${encode(header)}.${encode(payload)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  );
  const [head, body] = text.split('.');
  return JSON.stringify({ protected: head, payload: body, signature });
}

function refusal(what: string, body: { detail?: string; type?: string } | null): AppError {
  return new AppError(
    502,
    'CERTIFICATE_REFUSED',
    `The certificate authority refused: ${what}${body?.detail ? `: ${body.detail}` : ''}`,
  );
}

/** Reads the account at a CA from the environment. Half an account is a problem. */
export function externalAccountOf(settings: Settings): ExternalAccount | null {
  const id = settings.text('ACME_EAB_ID');
  const key = settings.text('ACME_EAB_KEY');
  if (id !== undefined && key !== undefined) return { id, key };
  if (id !== undefined || key !== undefined)
    settings.problem('ACME_EAB_ID and ACME_EAB_KEY belong together: set both, or neither');
  return null;
}
