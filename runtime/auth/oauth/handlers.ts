import type { Context as KoaContext } from 'koa';
import { failure } from '../../errors.ts';
import { type Handler, reply } from '../../http/route.ts';
import { as, callerOf } from '../caller.ts';
import { invalidToken, type OneTime } from '../one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertReauthenticated, signedInAccount } from '../reauthentication.ts';
import { deliverLogin } from '../refresh-cookie.ts';
import type { AuthMethod } from '../sessions.ts';
import { rfc3339 } from '../time.ts';
import { assertMayEnter, createCallback } from './callback.ts';
import { isBrowser, writeBrowser, writeFlow } from './flow-cookie.ts';
import { beginFlow } from './grant.ts';
import { createIdTokens } from './id-token.ts';
import { createIdTokenLogin } from './id-token-login.ts';
import { configuredProviders, createProviders, type Provider } from './providers.ts';
import { checkReturnTo } from './redirect.ts';

/** Sign-in through providers: contract section 2.11. */
export function oauthHandlers(parts: AuthParts) {
  const { kernel, model, config, keys, oneTime, events, directory, signIn } = parts;
  const { db } = kernel.store;
  const providers = createProviders(
    kernel.settings,
    configuredProviders(model.oauth.providers),
    config.providers,
  );
  const idTokens = createIdTokens(kernel.now);
  const notConfigured = () => failure.notFound('OAuth provider not configured');

  const oauthStart: Handler = async ({ params, query, koa }) => {
    const provider = await providers.get(params['provider'] ?? '');
    if (!provider) throw notConfigured();
    const returnTo = checkReturnTo(single(query.return_to), model.oauth.returnTo);
    const ticket = single(query.link);
    const link = ticket === undefined ? null : await redeemTicket(parts, koa, provider, ticket);
    const { location, secrets } = await beginFlow(provider);
    writeFlow(keys, koa, isSecure(provider), {
      ...secrets,
      provider: provider.name,
      returnTo,
      linkUser: link?.userId ?? null,
      startedAt: kernel.now(),
    });
    return reply(302, undefined, { Location: location });
  };

  const oauthExchange: Handler = async ({ context, koa, body }) => {
    const { userId, data } = await oneTime.consume(db, 'oauth_code', body.code);
    const account = await directory.find(db, userId);
    if (!account) throw invalidToken();
    await assertMayEnter(parts, context, account);
    return reply(
      200,
      deliverLogin(
        parts,
        koa,
        await signIn.open(context, account, data['method'] as AuthMethod, { kind: 'oauth' }),
      ),
    );
  };

  const link: Handler = async ({ context, koa, body }) => {
    const { account } = await assertReauthenticated(parts, context);
    const provider = await providers.get(body.provider);
    if (!provider) throw notConfigured();
    const browser = writeBrowser(koa, isSecure(provider));
    const ticket = await oneTime.issue(db, 'link', account.id, {
      data: { provider: body.provider, browser },
    });
    return reply(200, { url: `/api/oauth/${body.provider}?link=${ticket}` });
  };

  const identities: Handler = async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const rows = await db
      .selectFrom('auth_identities')
      .select(['provider', 'email', 'created_at', 'last_login_at'])
      .where('user_id', '=', account.id)
      .orderBy('provider')
      .execute();
    const shown = rows.map(({ created_at, last_login_at, ...row }) => ({
      ...row,
      created_at: rfc3339(created_at),
      last_login_at: rfc3339(last_login_at),
    }));
    return reply(200, { identities: shown, total: shown.length });
  };

  const unlink: Handler = async ({ context, params }) => {
    const { account } = await assertReauthenticated(parts, context);
    await events.transact(as(callerOf(context), account.id), async (trx, emit) => {
      await directory.serialise(trx);
      const linked = await trx
        .selectFrom('auth_identities')
        .select('provider')
        .where('user_id', '=', account.id)
        .execute();
      if (!linked.some(({ provider }) => provider === params['provider'])) throw failure.notFound();
      const left = linked.filter(({ provider }) => provider !== params['provider']);
      if (account.password === null && left.length === 0)
        throw failure.conflict('Cannot remove the last sign-in method');
      await trx
        .deleteFrom('auth_identities')
        .where('user_id', '=', account.id)
        .where('provider', '=', params['provider'])
        .execute();
      emit('oauth.unlinked', account.id, { provider: params['provider'] });
    });
    return reply(204);
  };
  return {
    oauthStart,
    oauthCallback: createCallback(parts, providers, idTokens),
    oauthIdToken: createIdTokenLogin(parts, providers, idTokens),
    oauthExchange,
    link,
    identities,
    unlink,
  };
}

/** The ticket works once, for its provider, in the browser that asked for it: nobody links his account for somebody else. */
async function redeemTicket(
  { oneTime, kernel }: AuthParts,
  koa: KoaContext,
  provider: Provider,
  ticket: string,
): Promise<OneTime> {
  const link = await oneTime.consume(kernel.store.db, 'link', ticket);
  if (
    link.data['provider'] !== provider.name ||
    !isBrowser(koa, isSecure(provider), link.data['browser'])
  )
    throw invalidToken();
  return link;
}

const isSecure = ({ redirectUrl }: Provider) => redirectUrl.startsWith('https:');
const single = (value: unknown) => (typeof value === 'string' ? value : undefined);
