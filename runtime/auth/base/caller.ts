import { isIPv6 } from 'node:net';
import Bowser from 'bowser';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { UserId } from './ids.ts';

/** The user, key or process that caused an event, as events and logs name it. */
export interface Actor {
  readonly kind: 'user' | 'api_key' | 'host' | 'system' | 'anonymous';
  readonly id: string | number | null;
}

/** The origin of a call. The `User-Agent` is cut to 256 characters. */
export interface Caller {
  readonly actor: Actor;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** Whether the actor is an administrator who acts as a user. */
  readonly impersonates?: boolean;
  /** The header `Accept-Language`: the languages of a mail that the request causes. */
  readonly language?: string;
}

export const HOST: Actor = { kind: 'host', id: null };

/** The caller of events that the module itself causes, at start or by a timer. */
export const SYSTEM: Caller = {
  actor: { kind: 'system', id: null },
  ip: '',
  userAgent: '',
  requestId: '',
};

/** The caller of a request. */
export function callerOf(context: RequestContext): Caller {
  const agent = context.headers['user-agent'];
  const impersonator = impersonatorOf(context);
  const language = context.headers['accept-language'];
  return {
    actor: impersonator === undefined ? actorOf(context) : { kind: 'user', id: impersonator },
    ...(impersonator !== undefined && { impersonates: true }),
    ip: context.ip,
    userAgent: printable(typeof agent === 'string' ? agent : '').slice(0, 256),
    requestId: context.id,
    ...(typeof language === 'string' && { language }),
  };
}

/**
 * A copy of a caller, with the user as its actor. An administrator who acts as the user remains the
 * actor.
 */
export function asUser(caller: Caller, id: number | string): Caller {
  return caller.impersonates ? caller : { ...caller, actor: { kind: 'user', id } };
}

/** The administrator who acts as the signed-in user, if there is one. */
export const impersonatorOf = ({ values }: RequestContext): UserId | undefined =>
  values.get<UserId>('impersonator')[0];

function actorOf({ principal }: RequestContext): Actor {
  if (principal.kind === 'user' || principal.kind === 'api_key')
    return { kind: principal.kind, id: principal.id };
  return { kind: principal.kind, id: null };
}

/** Removes control characters, so that a header cannot start a line in a log (ASVS 16.4.1). */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}

/** The key of an IP address in limits: IPv4 in full, or the /64 that one IPv6 customer has. */
export function addressKey(ip: string): string {
  // Most addresses have no colon. `isIPv6` costs more than the rest of this function.
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]!.split('::') as [string, string | undefined];
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const gap =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...gap, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

/**
 * Browser family and system of a `User-Agent` header, without versions: an update of the browser
 * does not count as a new device. For an agent that the library does not know (a script, an app)
 * this is the whole text without its numbers.
 *
 * @example
 * // 'Firefox on Linux'
 * deviceKind('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0');
 */
export function deviceKind(userAgent: string): string {
  const { browser, os } = userAgent ? Bowser.parse(userAgent) : { browser: {}, os: {} };
  if (browser?.name && os?.name) return `${browser.name} on ${os.name}`;
  return userAgent.replace(/[\d.]+/g, '').trim();
}
