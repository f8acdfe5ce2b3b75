import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { recordAttempt } from '../events/attempts.ts';
import { callerOf, printable } from '../requests/caller.ts';
import type { Entry } from '../steps/entry.ts';
import { digest } from '../ids.ts';
import { askHook } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import { MINUTE } from '../time.ts';
import type { Account } from '../users/user-directory.ts';
import { askConsent } from './consent.ts';
import { type Flow, takeFlow } from './flow-cookie.ts';
import { exchangeCode } from './grant.ts';
import { type Identity, nameInForm, readIdentity } from './identity.ts';
import { accountOf, accountToAsk, linkIdentity } from './linking.ts';
import { isSecure, postsForm, type Provider } from './providers.ts';
import { withParameter } from './redirect.ts';
import { issueCode } from './return-code.ts';
import type { AuthMethod } from '../tables.ts';

type Query = Readonly<Record<string, string | undefined>>;

/**
 * `GET /api/oauth/:provider/callback`, or `POST` with the form of a provider that sends one: all
 * checks come before the exchange of the code.
 */
export async function takeCallback(parts: AuthParts, call: Call): Promise<Reply> {
  const { params, koa, context } = call;
  const provider = await parts.providers.get(params['provider'] ?? '');
  if (!provider) throw failure.notFound('OAuth provider not configured');
  const isPost = koa.method === 'POST';
  if (isPost && !postsForm(provider)) throw failure.unsupportedMediaType();
  const query: Query = isPost ? call.body : readQuery(koa.query);
  try {
    const flow = await openFlow(parts, koa, provider, query);
    const tokens = await exchangeCode(provider, flow, query['code'] ?? '');
    const read = await readIdentity(provider, parts.idTokens, tokens, flow);
    const identity = { ...read, name: read.name || nameInForm(query['user']) };
    return await finishFlow(parts, call, { provider, flow, identity });
  } catch (error) {
    await noteRefusal(parts, context, provider, query, error);
    throw error;
  }
}

/** Reads the query. A parameter that occurs twice is ignored. */
function readQuery(query: KoaContext['query']): Query {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : undefined,
    ]),
  );
}

/** Checks cookie, provider, state, single use and issuer, in this order (RFC 9700, RFC 9207). */
async function openFlow(
  parts: AuthParts,
  koa: KoaContext,
  provider: Provider,
  query: Query,
): Promise<Flow> {
  const { kernel, keys } = parts;
  const invalid = () => failure.badRequest('Invalid OAuth state');
  const state = query['state'] ?? '';
  const flow = takeFlow(keys, koa, isSecure(provider), state, kernel.now());
  if (!flow || flow.provider !== provider.name) throw invalid();
  try {
    await kernel.store.db
      .insertInto('auth_oauth_used_states')
      .values({ hash: digest(state), exp: kernel.now() + 10 * MINUTE })
      .execute();
  } catch (error) {
    throw isUniqueViolation(error) ? invalid() : error;
  }
  if (
    provider.oidc &&
    (query['iss'] !== undefined || provider.oidc.issuerInResponse) &&
    query['iss'] !== provider.oidc.issuer
  )
    throw failure.badRequest('Invalid OAuth issuer');
  if (REFUSED_BY_USER.includes(query['error'] ?? ''))
    throw failure.unauthenticated('OAuth access denied');
  if (query['error'] !== undefined || !query['code'])
    throw new AppError(502, 'OAUTH_PROVIDER_ERROR', 'OAuth provider error');
  return flow;
}

/** What providers say when the user did not agree; the others are Apple's and LinkedIn's. */
const REFUSED_BY_USER = ['access_denied', 'user_cancelled_authorize', 'user_cancelled_login'];

/** A flow whose identity is known. */
interface IdentifiedFlow {
  readonly provider: Provider;
  readonly flow: Flow;
  readonly identity: Identity;
}

async function finishFlow(
  parts: AuthParts,
  call: Call,
  { provider, flow, identity }: IdentifiedFlow,
): Promise<Reply> {
  const { context } = call;
  const target = flow.returnTo ?? parts.config.oauthSuccessRedirect;
  if (flow.linkUser !== null) {
    const request = { userId: flow.linkUser, startedAt: flow.startedAt };
    await linkIdentity(parts, callerOf(context), request, identity);
    if (target === null) return reply(200, { message: 'Provider linked' });
    return reply(303, undefined, { Location: withParameter(target, 'linked', identity.provider) });
  }
  if (target === null) {
    const account = await accountOf(parts, context, identity);
    await assertSignInAllowed(parts, context, account);
    return advance(parts, call, byProvider(account, `oauth:${identity.provider}`));
  }
  const location = await leadOn(parts, call, { provider, flow, identity }, target);
  return reply(303, undefined, { Location: location });
}

/**
 * Ends a flow in a browser: redirects to the target with a code, or first to the page that asks for
 * consent.
 */
async function leadOn(
  parts: AuthParts,
  { koa, context }: Call,
  { provider, flow, identity }: IdentifiedFlow,
  target: string,
): Promise<string> {
  const { account, needsConsent } =
    parts.model.pages === false
      ? { account: await accountOf(parts, context, identity), needsConsent: false }
      : await accountToAsk(parts, context, identity);
  const userId = account.id;
  await assertSignInAllowed(parts, context, account);
  if (needsConsent) {
    const secure = isSecure(provider);
    return askConsent(parts, koa, { userId, identity, flow, target, secure });
  }
  // An address may contain a code that works once, but never a token.
  return withParameter(target, 'code', await issueCode(parts, koa, { provider, flow, userId }));
}

/** A user whom a provider has identified. */
export const byProvider = (account: Account, method: AuthMethod): Entry => ({
  account,
  method,
  amr: ['fed'],
  goal: { kind: 'session', status: 200 },
});

/** @throws AppError 403 */
export async function assertSignInAllowed(
  parts: AuthParts,
  context: RequestContext,
  account: Account,
): Promise<void> {
  if (account.disabledAt !== null) throw failure.forbidden('Account disabled');
  if (account.deletionAt !== null) throw failure.forbidden('Account deleted');
  if (parts.model.requireVerifiedEmail && !account.emailVerified)
    throw failure.forbidden('Email not verified');
  const refusal = await askHook(parts, account, context);
  if (refusal) throw refusal;
}

/** Logs and stores a refused sign-in. The provider's own message is only logged. */
export async function noteRefusal(
  parts: AuthParts,
  context: RequestContext,
  provider: Provider,
  query: Query,
  error: unknown,
): Promise<void> {
  const reason =
    error instanceof AppError
      ? `oauth_${error.message
          .toLowerCase()
          .replaceAll(/[^a-z]+/g, '_')
          .slice(0, 60)}`
      : 'oauth_failed';
  const said =
    query['error_description'] ??
    (error instanceof Error && error.cause !== undefined ? String(error.cause) : '');
  parts.kernel.log.warn(
    { requestId: context.id, provider: provider.name, reason, said: printable(said).slice(0, 200) },
    'a sign-in through a provider was refused',
  );
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await recordAttempt(trx, parts.kernel, caller, {
      kind: 'oauth',
      outcome: 'failure',
      reason,
      identifierHash: null,
      identifier: null,
      userId: null,
      sessionId: null,
    });
    emit('oauth.refused', null, { provider: provider.name, reason });
  });
}
