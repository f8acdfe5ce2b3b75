import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { addressMatcher } from '@twofold/runtime/http';
import type { AuthParts } from '../parts.ts';
import { isHttps, refuseForeignPage } from './client-cookie.ts';

const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);

/**
 * An application of this server is entered from its own origin, and in production by https only: its
 * cookie could be read on the way otherwise.
 *
 * @throws AppError 403 `Forbidden`, `The console needs https`
 */
export function assertSecureEntry(
  parts: AuthParts,
  { koa, context }: { readonly koa: KoaContext; readonly context: RequestContext },
  client: string | null,
): void {
  if (client === null) return;
  refuseForeignPage(parts, koa);
  const { kernel, applications } = parts;
  if (!applications.has(client) || !kernel.settings.production) return;
  if (!isHttps(parts, koa) && !isLoopback(context.ip))
    throw failure.forbidden(`The ${client} needs https`);
}
