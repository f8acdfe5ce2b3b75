import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { requireApiKey } from '../sign-in/login.ts';
import { invalidToken, type OneTime } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { type BrowserMark, isMarked } from './browser-mark.ts';
import { writeFlow } from './flow-cookie.ts';
import { beginFlow } from './grant.ts';
import type { Provider, Providers } from './providers.ts';
import { checkReturnTo } from './redirect.ts';

/** The options of a flow. Other values that a caller sends are ignored. */
interface FlowOptions {
  readonly return_to?: unknown;
  readonly link?: unknown;
  readonly code_challenge?: unknown;
}

/**
 * Two ways to begin a flow: the browser opens our address and is redirected, or a page asks for the
 * provider's address. The page can send an API key, a redirected browser cannot.
 */
export function startHandlers(parts: AuthParts, providers: Providers) {
  const begin = async (
    { koa, context }: { readonly koa: KoaContext; readonly context: RequestContext },
    name: string,
    wish: FlowOptions,
  ): Promise<string> => {
    requireApiKey(parts, context);
    const provider = await providers.get(name);
    if (!provider) throw failure.notFound('OAuth provider not configured');
    const codeChallenge = singleValue(wish.code_challenge);
    const { returnTo: allowed } = parts.model.oauth;
    const returnTo = checkReturnTo(singleValue(wish.return_to), allowed, codeChallenge);
    const ticket = singleValue(wish.link);
    const link = ticket === undefined ? null : await redeemTicket(parts, koa, provider, ticket);
    const { location, secrets } = await beginFlow(provider);
    writeFlow(parts.keys, koa, provider, {
      ...secrets,
      provider: provider.name,
      returnTo,
      linkUser: link?.userId ?? null,
      codeChallenge: codeChallenge ?? null,
      startedAt: parts.kernel.now(),
    });
    return location;
  };
  const oauthStart: Handler = async (call) =>
    reply(302, undefined, {
      Location: await begin(call, call.params['provider'] ?? '', call.query),
    });
  const oauthStartOfPage: Handler = async (call) =>
    reply(200, { url: await begin(call, call.params['provider'] ?? '', call.body) });
  return { oauthStart, oauthStartOfPage };
}

/**
 * A ticket works once, for its provider, in the browser that asked for it. Otherwise an attacker
 * could make another user link the attacker's provider account.
 */
async function redeemTicket(
  { oneTime, kernel }: AuthParts,
  koa: KoaContext,
  provider: Provider,
  ticket: string,
): Promise<OneTime> {
  const link = await oneTime.consume(kernel.store.db, 'link', ticket);
  if (
    link.data['provider'] !== provider.name ||
    !isMarked(koa, link.data['browser'] as BrowserMark)
  )
    throw invalidToken();
  return link;
}

/** A parameter that occurs twice (an array) is ignored. */
const singleValue = (value: unknown) => (typeof value === 'string' ? value : undefined);
