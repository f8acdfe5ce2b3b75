import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { object, orNull, text } from '@twofold/schema/shapes';
import type { Context as KoaContext } from 'koa';
import { assertSignInAllowed, requireApiKey } from '../sign-in/login.ts';
import { identitiesOf } from '../account/own-logs.ts';
import { type BrowserMark, isMarked, markBrowser } from '../oauth/browser-mark.ts';
import { byProvider, takeCallback } from '../oauth/callback.ts';
import { writeFlow } from '../oauth/flow-cookie.ts';
import { beginFlow } from '../oauth/grant.ts';
import { signInByIdToken } from '../oauth/id-token-login.ts';
import { isSecure, type Provider } from '../oauth/providers.ts';
import { checkReturnTo } from '../sign-in/redirect.ts';
import { redeemCode } from '../oauth/return-code.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { assertProof, signedInAccount } from '../requests/proof.ts';
import { invalidToken, ONE_TIME_LIFETIME, type OneTime } from '../secrets/one-time-tokens.ts';
import { assertOtherMethod } from '../sign-in/ended-access.ts';
import { advance } from '../sign-in/advance.ts';
import { forClient } from '../sign-in/enter-application.ts';
import { flow, LOGGED_IN, SIGNED_IN, STEP_LEFT } from './flow.ts';
import { CLIENT, SHORT, TIME, TOKEN, WHOLE } from './shapes.ts';

/** The text whose SHA-256 in hex is the `nonce` of an ID token. */
const NONCE = {
  ...text,
  minLength: 16,
  maxLength: 256,
  description: 'The random text whose SHA-256 in hex the id token has as its nonce',
} as const;
/** RFC 7636 section 4: with it the client proves in the exchange that it started the flow. */
const CODE_VERIFIER = { ...text, pattern: '^[A-Za-z0-9._~-]{43,128}$' } as const;
const CODE_CHALLENGE = {
  ...text,
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'SHA-256 of the code verifier, in base64url (S256)',
} as const;

/**
 * Parameters of an OAuth flow. `link` is the ticket of the user who links a provider to their
 * account.
 */
const FLOW = { return_to: SHORT, link: SHORT, code_challenge: CODE_CHALLENGE } as const;

/** What a provider sends back; `user` is text with the name, the first time alone. */
const RETURN = Object.fromEntries(
  ['state', 'code', 'error', 'error_description', 'iss', 'user'].map((name) => [name, text]),
);

export const oauthStart = flow('GET /api/oauth/:provider', {
  needs: 'public',
  limits: ['oauth-ip'],
  summary: 'Go to the provider',
  query: FLOW,
  answers: { 302: ['To the provider'] },
  refuses: {
    400: 'Invalid redirect',
    401: 'API key required',
    404: 'OAuth provider not configured',
  },
  handle: async (call, auth) =>
    reply(302, undefined, { Location: await beginSignIn(auth, call, call.query) }),
});

export const oauthStartOfPage = flow('POST /api/oauth/:provider', {
  needs: 'public',
  limits: ['oauth-ip'],
  summary: 'The address of the provider, for a page that sends the browser there itself',
  optional: true,
  body: object(FLOW),
  answers: { 200: ['Where to go', object({ url: text })] },
  refuses: {
    400: 'Invalid redirect',
    401: 'API key required',
    404: 'OAuth provider not configured',
  },
  handle: async (call, auth) => reply(200, { url: await beginSignIn(auth, call, call.body) }),
});

export const oauthCallback = flow('GET /api/oauth/:provider/callback', {
  needs: 'public',
  limits: ['oauth-ip'],
  summary: 'Where the provider sends people back to',
  answers: {
    ...LOGGED_IN,
    ...STEP_LEFT,
    303: ['Back to the application, with a code to exchange'],
  },
  refuses: {
    400: 'Invalid OAuth state',
    401: 'OAuth access denied',
    409: 'Account exists; sign in to link this provider',
    502: 'OAuth provider error',
  },
  handle: (call, auth) => takeCallback(auth, call),
});

export const oauthIdToken = flow('POST /api/oauth/:provider/callback', {
  needs: 'public',
  limits: ['oauth-ip'],
  summary:
    'Sign in with an id token of the provider, off unless the manifest says `id_token: true` of it; or come back by a form of the provider (Apple)',
  body: object({ idToken: TOKEN, nonce: NONCE }, ['idToken', 'nonce']),
  form: { type: 'object', properties: RETURN },
  answers: {
    ...LOGGED_IN,
    ...STEP_LEFT,
    303: ['Back to the application, with a code to exchange'],
  },
  refuses: {
    400: 'Invalid OAuth state',
    401: 'OAuth identity could not be verified',
    404: 'OAuth provider not configured',
    409: 'Account exists; sign in to link this provider',
    502: 'OAuth provider error',
  },
  // A form comes from any site: it ends the flow that this browser began, and begins no other.
  handle: (call, auth) => (call.koa.is('urlencoded') ? takeCallback : signInByIdToken)(auth, call),
});

export const oauthExchange = flow('POST /api/oauth/exchange', {
  needs: 'public',
  limits: ['oauth-ip'],
  summary:
    'The login object for the code of the redirect, in the browser that was sent back or with the code verifier',
  body: object({ code: TOKEN, code_verifier: CODE_VERIFIER, ...CLIENT }, ['code']),
  answers: { ...LOGGED_IN, ...STEP_LEFT },
  refuses: { 400: 'Invalid or expired token', 401: 'API key required' },
  async handle(call, auth) {
    const { context, koa, body } = call;
    requireApiKey(auth, context);
    const { userId, method, amr } = await redeemCode(auth, koa, body);
    const account = await auth.directory.find(auth.db, userId);
    if (!account) throw invalidToken();
    await assertSignInAllowed(auth, context, account);
    const entry = { ...byProvider(account, method), ...(amr && { amr }) };
    return advance(auth, call, forClient(entry, body));
  },
});

export const link = flow('POST /api/auth/link', {
  needs: 'session',
  summary: 'Start linking a provider to the signed-in account',
  body: object({ provider: SHORT }, ['provider']),
  answers: { 200: ['Where to go', object({ url: SHORT })] },
  refuses: { 404: 'OAuth provider not configured' },
  async handle({ context, koa, body }, auth) {
    const { db } = auth;
    const { account } = await assertProof(auth, context);
    const provider = await auth.providers.get(body.provider);
    if (!provider) throw failure.notFound('OAuth provider not configured');
    const browser = markBrowser(koa, {
      name: 'oauth_link',
      secure: isSecure(provider),
      life: ONE_TIME_LIFETIME.link,
    });
    const ticket = await auth.oneTime.issue(db, 'link', account.id, {
      data: { provider: body.provider, browser },
    });
    return reply(200, { url: `/api/oauth/${body.provider}?link=${ticket}` });
  },
});

export const identities = flow('GET /api/auth/identities', {
  needs: 'session',
  summary: 'Linked providers',
  answers: {
    200: [
      'The identities',
      object({
        identities: {
          type: 'array',
          items: object({
            provider: SHORT,
            email: orNull('string'),
            created_at: TIME,
            last_login_at: TIME,
          }),
        },
        total: WHOLE,
      }),
    ],
  },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { db } = auth;
    const { account } = await signedInAccount(auth, context);
    const shown = await identitiesOf(db, account.id);
    return reply(200, { identities: shown, total: shown.length });
  },
});

export const unlink = flow('DELETE /api/auth/identities/:provider', {
  needs: 'session',
  summary: 'Unlink a provider',
  answers: { 204: ['Unlinked'] },
  refuses: { 404: 'Not found', 409: 'Cannot remove the last sign-in method' },
  async handle({ context, params }, auth) {
    const { account } = await assertProof(auth, context);
    await auth.events.transact(asUser(callerOf(context), account.id), async ({ trx, emit }) => {
      await auth.directory.serialise(trx);
      const linked = await trx
        .selectFrom('auth_identities')
        .select('provider')
        .where('user_id', '=', account.id)
        .execute();
      if (!linked.some(({ provider }) => provider === params.provider)) throw failure.notFound();
      await trx
        .deleteFrom('auth_identities')
        .where('user_id', '=', account.id)
        .where('provider', '=', params.provider)
        .execute();
      await assertOtherMethod(auth, trx, account.id);
      emit('oauth.unlinked', account.id, { provider: params.provider });
    });
    return reply(204);
  },
});

/** The options of a flow. Other values that a caller sends are ignored. */
interface FlowOptions {
  readonly return_to?: unknown;
  readonly link?: unknown;
  readonly code_challenge?: unknown;
}

/**
 * The address of the provider, to which the browser goes or is redirected. A page can send an API
 * key, a redirected browser cannot.
 */
async function beginSignIn(
  auth: AuthState,
  { koa, context, params }: Pick<Call, 'koa' | 'context' | 'params'>,
  wish: FlowOptions,
): Promise<string> {
  requireApiKey(auth, context);
  const provider = await auth.providers.get(params['provider']);
  if (!provider) throw failure.notFound('OAuth provider not configured');
  const codeChallenge = singleValue(wish.code_challenge);
  const { returnTo: allowed } = auth.model.oauth;
  const returnTo = checkReturnTo(singleValue(wish.return_to), allowed, codeChallenge);
  const ticket = singleValue(wish.link);
  const link = ticket === undefined ? null : await redeemTicket(auth, koa, provider, ticket);
  const { location, secrets } = await beginFlow(provider);
  writeFlow(auth.keys, koa, provider, {
    ...secrets,
    provider: provider.name,
    returnTo,
    linkUser: link?.userId ?? null,
    codeChallenge: codeChallenge ?? null,
    startedAt: auth.now(),
  });
  return location;
}

/**
 * A ticket works once, for its provider, in the browser that asked for it. Otherwise an attacker
 * could make another user link the attacker's provider account.
 */
async function redeemTicket(
  auth: AuthState,
  koa: KoaContext,
  provider: Provider,
  ticket: string,
): Promise<OneTime> {
  const link = await auth.oneTime.consume(auth.db, 'link', ticket);
  if (
    link.data['provider'] !== provider.name ||
    !isMarked(koa, link.data['browser'] as BrowserMark)
  )
    throw invalidToken();
  return link;
}

/** A parameter that occurs twice (an array) is ignored. */
const singleValue = (value: unknown) => (typeof value === 'string' ? value : undefined);
