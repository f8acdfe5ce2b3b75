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
