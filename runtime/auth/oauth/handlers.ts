import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { identitiesOf } from '../account/own-logs.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { redeemCode } from './return-code.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { assertOtherMethod } from '../sign-in/sign-in-methods.ts';
import { markBrowser } from './browser-mark.ts';
import { assertSignInAllowed, byProvider, createCallback } from './callback.ts';
import { createIdTokens } from './id-token.ts';
import { createIdTokenLogin } from './id-token-login.ts';
import { configuredProviders, createProviders, isSecure } from './providers.ts';
import { startHandlers } from './start.ts';

/** Routes for sign-in through providers. */
export function oauthHandlers(parts: AuthParts) {
  const { kernel, model, config, oneTime } = parts;
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
    unlink: unlink(parts),
  };
}

/** `POST /api/oauth/exchange {code, code_verifier?}` */
function createExchange(parts: AuthParts): Handler {
  return async (call) => {
    const { context, koa, body } = call;
    requireApiKey(parts, context);
    const { userId, method, amr } = await redeemCode(parts, koa, body);
    const account = await parts.directory.find(parts.kernel.store.db, userId);
    if (!account) throw invalidToken();
    await assertSignInAllowed(parts, context, account);
    const entry = { ...byProvider(account, method), ...(amr && { amr }) };
    return advance(parts, call, forClient(entry, body));
  };
}

function unlink(parts: AuthParts): Handler {
  const { events, directory } = parts;
  return async ({ context, params }) => {
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
}
