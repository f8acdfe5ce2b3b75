import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { failure } from '@twofold/runtime/errors';
import { isPrivateAddress } from '@twofold/runtime/http';

/** Which git URLs are allowed. */
export interface GitPolicy {
  readonly allowHttp: boolean;
  /** Whether hosts in private networks are allowed. */
  readonly allowPrivate: boolean;
}

/** A URL that can be passed to git, without user name and password. */
export interface GitUrl {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'https:' | 'http:' | 'ssh:';
}

/**
 * Reads a git URL. Only `https:`, `ssh:` (with the short form `user@host:path`) and, if allowed,
 * `http:` are accepted, because git itself would also accept local paths and run programs.
 *
 * @throws AppError 400
 */
export function parseGitUrl(text: string, policy: GitPolicy): GitUrl {
  const scpSyntax = /^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!\/)([^\s]+)$/.exec(text);
  const full = scpSyntax ? `ssh://${scpSyntax[1]}@${scpSyntax[2]}/${scpSyntax[3]}` : text;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (!url || /[\p{Cc} ]/u.test(text)) throw failure.badRequest('git.url is not a valid address');
  const { protocol } = url;
  if (protocol !== 'https:' && protocol !== 'ssh:' && !(protocol === 'http:' && policy.allowHttp))
    throw failure.badRequest('git.url must begin with https:// or ssh://');
  if (url.password !== '' || (protocol !== 'ssh:' && url.username !== ''))
    throw failure.badRequest('git.url must not hold a password: use git.token');
  if (
    url.hostname === '' ||
    url.hostname.startsWith('-') ||
    url.username.startsWith('-') ||
    url.pathname.length < 2
  )
    throw failure.badRequest('git.url is not a valid address');
  url.hash = '';
  const port = Number(url.port || { 'https:': 443, 'http:': 80, 'ssh:': 22 }[protocol]);
  return { url: url.href, host: url.hostname.replace(/^\[|\]$/g, ''), port, protocol };
}

/** Accepts a branch, tag or commit. @throws AppError 400 */
export function assertGitRef(ref: string): void {
  const valid =
    /^[A-Za-z0-9][A-Za-z0-9._/+@-]{0,199}$/.test(ref) &&
    !/\.\.|@\{|\/\/|\.lock(\/|$)|[/.]$/.test(ref);
  if (!valid) throw failure.badRequest('git.ref is not a valid name of a branch, tag or commit');
}

/**
 * Resolves the host once. git then uses only this address, so a host name that resolves to another
 * address the second time cannot bypass the check.
 *
 * @throws AppError 400 when it is unknown, or private and that is not allowed.
 */
export async function resolveGitHost(
  { host }: GitUrl,
  { allowPrivate }: GitPolicy,
): Promise<string> {
  const addresses = isIP(host)
    ? [host]
    : (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
  const [first] = addresses;
  if (first === undefined) throw failure.badRequest('git.url names a host that is not known');
  if (!allowPrivate && addresses.some(isPrivateAddress))
    throw failure.badRequest('git.url names a host of a private network, which is not allowed');
  return first;
}
