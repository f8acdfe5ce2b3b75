import { isIPv6 } from 'node:net';
import type { RequestContext } from '@twofold/runtime/kernel';

/** Who did something, as events and logs name them. */
export interface Actor {
  readonly kind: 'user' | 'api_key' | 'host' | 'system' | 'anonymous';
  readonly id: string | number | null;
}

/** Where a call came from. What a browser says of itself is cut to 256 characters. */
export interface Caller {
  readonly actor: Actor;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
}

/** The module's own doing: timers, start. */
export const SYSTEM: Caller = {
  actor: { kind: 'system', id: null },
  ip: '',
  userAgent: '',
  requestId: '',
};

/** The caller of a request. */
export function callerOf(context: RequestContext): Caller {
  const agent = context.headers['user-agent'];
  return {
    actor: actorOf(context),
    ip: context.ip,
    userAgent: printable(typeof agent === 'string' ? agent : '').slice(0, 256),
    requestId: context.id,
  };
}

/** The same caller, now known to be a user. */
export function as(caller: Caller, id: number | string): Caller {
  return { ...caller, actor: { kind: 'user', id } };
}

function actorOf({ principal }: RequestContext): Actor {
  if (principal.kind === 'user' || principal.kind === 'api_key')
    return { kind: principal.kind, id: principal.id };
  return { kind: principal.kind, id: null };
}

/**
 * Without control characters: a line break in a header must not start a line in a log (ASVS
 * 16.4.1).
 */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}

/** What counts as one caller: an IPv4 address, or the /64 that one IPv6 customer has. */
export function addressKey(ip: string): string {
  // Most have no colon; asking Node what they are costs more than the rest.
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
