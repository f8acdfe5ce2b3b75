import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { identitiesOf } from '../account/own-logs.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { assertOtherMethod } from '../sign-in/sign-in-methods.ts';
import { markBrowser } from './browser-mark.ts';
import { createCallback } from './callback.ts';
import { createExchange } from './exchange.ts';
import { createIdTokens } from './id-token.ts';
import { createIdTokenLogin } from './id-token-login.ts';
import { configuredProviders, createProviders, isSecure } from './providers.ts';
import { startHandlers } from './start.ts';

/** Routes for sign-in through providers. */
export function oauthHandlers(parts: AuthParts) {
  const { kernel, model, config, oneTime, events, directory } = parts;
  const { db } = kernel.store;
  const providers = createProviders(
    kernel.settings,
    configuredProviders(model.oauth.providers),
    config.providers,
  );
  const idTokens = createIdTokens(kernel.now);
  const notConfigured = () => failure.notFound('OAuth provider not configured');

  const link: Handler = async ({ context, koa, body }) => {
    const { account } = await assertProof(parts, context);
    const provider = await providers.get(body.provider);
    if (!provider) throw notConfigured();
    const browser = markBrowser(koa, {
      name: 'oauth_link',
      secure: isSecure(provider),
      life: ONE_TIME_LIFETIME.link,
    });
    const ticket = await oneTime.issue(db, 'link', account.id, {
      data: { provider: body.provider, browser },
    });
    return reply(200, { url: `/api/oauth/${body.provider}?link=${ticket}` });
  };

  const identities: Handler = async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const shown = await identitiesOf(db, account.id);
    return reply(200, { identities: shown, total: shown.length });
  };

  const unlink: Handler = async ({ context, params }) => {
    const { account } = await assertProof(parts, context);
    await events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
      await directory.serialise(trx);
      const linked = await trx
        .selectFrom('auth_identities')
        .select('provider')
        .where('user_id', '=', account.id)
        .execute();
      if (!linked.some(({ provider }) => provider === params['provider'])) throw failure.notFound();
      await trx
        .deleteFrom('auth_identities')
        .where('user_id', '=', account.id)
        .where('provider', '=', params['provider'] ?? '')
        .execute();
      await assertOtherMethod(parts, trx, account.id);
      emit('oauth.unlinked', account.id, { provider: params['provider'] });
    });
    return reply(204);
  };
  const oauthCallback = createCallback(parts, providers, idTokens);
  const idTokenLogin = createIdTokenLogin(parts, providers, idTokens);
  // A form comes from any site: it ends the flow that this browser began, and begins no other.
  const oauthIdToken: Handler = (call) =>
    (call.koa.is('urlencoded') ? oauthCallback : idTokenLogin)(call);
  return {
    ...startHandlers(parts, providers),
    oauthCallback,
    oauthIdToken,
    oauthExchange: createExchange(parts),
    link,
    identities,
    unlink,
  };
}
