import { failure } from '@twofold/runtime/errors';
import type { AppSpec } from './app.ts';

/**
 * The domains that belong to an app. A worker has none, but an app that becomes a worker keeps its
 * domains until the deployment that makes it one.
 */
export function domainsOf({
  domain,
  aliases,
  worker,
  usedPort,
}: Pick<AppSpec, 'domain' | 'aliases' | 'worker' | 'usedPort'>): readonly string[] {
  return worker && typeof usedPort !== 'number' ? [] : [domain, ...aliases];
}

/** The domains that lead to what runs now. */
export const servedDomains = (spec: AppSpec): readonly string[] =>
  spec.usedPort === null ? [] : domainsOf(spec);

/** @throws AppError 400 when a worker has a health check that needs a port. */
export function assertWorker({ worker, health }: Pick<AppSpec, 'worker' | 'health'>): void {
  if (!worker || (health.path === undefined && health.tcp !== true)) return;
  throw failure.badRequest(
    'health.path and health.tcp need a port, which a worker does not have: use health.command',
  );
}

/**
 * Reserves the host of the server itself: an app with this domain would receive the passwords of
 * the server's users.
 *
 * @param appUrl `APP_URL`, if it is set.
 * @returns a check of the domains that an app newly requests. It throws AppError 409.
 * @example
 * const assertNotOurs = ownHost('https://panel.example.com');
 * assertNotOurs({ domain: '*.example.com', aliases: [] });
 */
export function ownHost(
  appUrl: string | undefined,
): (
  asked: Pick<AppSpec, 'domain' | 'aliases' | 'worker' | 'usedPort'>,
  before?: Pick<AppSpec, 'domain' | 'aliases' | 'worker' | 'usedPort'>,
) => void {
  const host = appUrl && URL.canParse(appUrl) ? new URL(appUrl).hostname.replace(/\.$/, '') : '';
  const wildcard = `*${host.slice(Math.max(0, host.indexOf('.')))}`;
  return (asked, before) => {
    if (host === '') return;
    const had = before ? domainsOf(before) : [];
    for (const domain of domainsOf(asked))
      if ((domain === host || domain === wildcard) && !had.includes(domain))
        throw failure.conflict(`Domain ${domain} is the server's own: APP_URL names it`);
  };
}
