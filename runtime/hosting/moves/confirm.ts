import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP } from 'node:net';
import { readBytes } from '../read-bytes.ts';
import type { ForwardTarget } from '../records/app.ts';
import type { MoveTokens } from './tokens.ts';

/**
 * What the target says. `kept`: it has the app from now on. `gone`: it does not have it, and will
 * not. `silent`: there is no answer, so nothing is known.
 */
export type Confirmation =
  | { readonly kind: 'kept'; readonly forward: ForwardTarget }
  | { readonly kind: 'gone'; readonly why: string }
  | { readonly kind: 'silent'; readonly why: string };

export interface Confirming {
  readonly to: string;
  readonly move: string;
  readonly tokens: MoveTokens;
}

const TIMEOUT = 10_000;
const MAX_ANSWER = 64 * 1024;

/**
 * Asks the target to keep the app. Requests are passed on only to the address that gives the right
 * answer: nobody but the server that has received the key of the move can give it.
 */
export async function confirmMove({ to, move, tokens }: Confirming): Promise<Confirmation> {
  const url = new URL(`/api/apps/import/${move}/keep`, to);
  try {
    const { status, body, address } = await post(url, { proof: tokens.proof });
    if (status === 404 || status === 409)
      return { kind: 'gone', why: String(body['error'] ?? `it answered ${status}`) };
    if (status !== 200 || body['proof'] !== tokens.answer)
      return {
        kind: 'silent',
        why: `${to} answered ${status}, and not as the target of this move`,
      };
    const { http, https } = portsOf(body['ingress']);
    const serverName = url.protocol === 'https:' ? hostOf(url) : null;
    if ((serverName === null ? http : https) === null)
      return { kind: 'silent', why: `the ingress of ${to} has no port` };
    return {
      kind: 'kept',
      forward: { host: address, http, https, serverName, token: tokens.forward },
    };
  } catch (error) {
    return { kind: 'silent', why: `${to} does not answer: ${(error as Error).message}` };
  }
}

/** @returns why the target cannot be reached from this server; null when it can. */
export async function findUnreachable(to: string): Promise<string | null> {
  try {
    const { status } = await send(new URL('/api/health', to), 'GET');
    return status < 500 ? null : `${to} answered ${status}`;
  } catch (error) {
    return `${to} does not answer: ${(error as Error).message}`;
  }
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');

function portsOf(ingress: unknown): { http: number | null; https: number | null } {
  const { http, https } = (ingress ?? {}) as Record<string, unknown>;
  const isPort = (port: unknown): port is number =>
    Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;
  return { http: isPort(http) ? http : null, https: isPort(https) ? https : null };
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The address that has answered. */
  readonly address: string;
}

const post = (url: URL, body: object) => send(url, 'POST', JSON.stringify(body));

function send(url: URL, method: string, body = ''): Promise<Answer> {
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  const headers = {
    Accept: 'application/json',
    ...(body !== '' && { 'Content-Type': 'application/json' }),
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, timeout: TIMEOUT });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', reject);
    sent.on('response', (answer) => void read(answer).then(resolve, reject));
    sent.end(body);
  });
}

async function read(answer: IncomingMessage): Promise<Answer> {
  const address = answer.socket.remoteAddress ?? '';
  const text = (await readBytes(answer, MAX_ANSWER)).toString();
  if (isIP(address) === 0) throw new Error('its address is not known');
  return { status: answer.statusCode ?? 0, body: parse(text), address };
}

function parse(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : {};
  } catch {
    return {};
  }
}
