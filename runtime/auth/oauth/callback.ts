import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { assertSignInAllowed } from '../sign-in/login.ts';
import { advance } from '../sign-in/advance.ts';
import { noteAttempt } from '../events/attempts.ts';
import { callerOf, printable } from '../base/caller.ts';
import type { Entry } from '../sign-in/entry.ts';
import { digest } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import { MINUTE } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import { withParameter } from '../sign-in/redirect.ts';
import type { AuthMethod } from '../base/tables.ts';
import { askConsent } from './consent.ts';
import { type Flow, takeFlow } from './flow-cookie.ts';
import { exchangeCode } from './grant.ts';
import { type Identity, nameInForm, readIdentity } from './identity.ts';
import { accountOf, accountToAsk, linkIdentity } from './linking.ts';
import { isSecure, postsForm, type Provider } from './providers.ts';
import { issueCode } from './return-code.ts';

type Query = Readonly<Record<string, string | undefined>>;

/**
 * `GET /api/oauth/:provider/callback`, or `POST` with the form of a provider that sends one: all
 * checks come before the exchange of the code.
 */
export async function takeCallback(auth: AuthState, call: Call): Promise<Reply> {
  const { params, koa, context } = call;
  const provider = await auth.providers.get(params['provider'] ?? '');
  if (!provider) throw failure.notFound('OAuth provider not configured');
  const isPost = koa.method === 'POST';
  if (isPost && !postsForm(provider)) throw failure.unsupportedMediaType();
  const query: Query = isPost ? call.body : readQuery(koa.query);
  try {
    const flow = await openFlow(auth, koa, provider, query);
    const tokens = await exchangeCode(provider, flow, query['code'] ?? '');
    const read = await readIdentity(provider, auth.idTokens, tokens, flow);
    const identity = { ...read, name: read.name || nameInForm(query['user']) };
    return await finishFlow(auth, call, { provider, flow, identity });
  } catch (error) {
    await noteRefusal(auth, context, provider, query, error);
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
  auth: AuthState,
  koa: KoaContext,
  provider: Provider,
  query: Query,
): Promise<Flow> {
  const invalid = () => failure.badRequest('Invalid OAuth state');
  const state = query['state'] ?? '';
  const flow = takeFlow(auth.keys, koa, isSecure(provider), state, auth.now());
  if (!flow || flow.provider !== provider.name) throw invalid();
  try {
    await auth.db
      .insertInto('auth_oauth_used_states')
      .values({ hash: digest(state), exp: auth.now() + 10 * MINUTE })
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
  auth: AuthState,
  call: Call,
  { provider, flow, identity }: IdentifiedFlow,
): Promise<Reply> {
  const { context } = call;
  const target = flow.returnTo ?? auth.config.oauthSuccessRedirect;
  if (flow.linkUser !== null) {
    const request = { userId: flow.linkUser, startedAt: flow.startedAt };
    await linkIdentity(auth, callerOf(context), request, identity);
    if (target === null) return reply(200, { message: 'Provider linked' });
    return reply(303, undefined, { Location: withParameter(target, 'linked', identity.provider) });
  }
  if (target === null) {
    const account = await accountOf(auth, context, identity);
    await assertSignInAllowed(auth, context, account);
    return advance(auth, call, byProvider(account, `oauth:${identity.provider}`));
  }
  const location = await leadOn(auth, call, { provider, flow, identity }, target);
  return reply(303, undefined, { Location: location });
}

/**
 * Ends a flow in a browser: redirects to the target with a code, or first to the page that asks for
 * consent.
 */
async function leadOn(
  auth: AuthState,
  { koa, context }: Call,
  { provider, flow, identity }: IdentifiedFlow,
  target: string,
): Promise<string> {
  const { account, needsConsent } =
    auth.model.pages === false
      ? { account: await accountOf(auth, context, identity), needsConsent: false }
      : await accountToAsk(auth, context, identity);
  const userId = account.id;
  await assertSignInAllowed(auth, context, account);
  if (needsConsent) {
    const secure = isSecure(provider);
    return askConsent(auth, koa, { userId, identity, flow, target, secure });
  }
  // An address may contain a code that works once, but never a token.
  return withParameter(target, 'code', await issueCode(auth, koa, { provider, flow, userId }));
}

/** A user whom a provider has identified. */
export const byProvider = (account: Account, method: AuthMethod): Entry => ({
  account,
  method,
  amr: ['fed'],
  goal: { kind: 'session', status: 200 },
});

/** Logs and stores a refused sign-in. The provider's own message is only logged. */
export async function noteRefusal(
  auth: AuthState,
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
  auth.log.warn(
    { requestId: context.id, provider: provider.name, reason, said: printable(said).slice(0, 200) },
    'a sign-in through a provider was refused',
  );
  const attempt = { kind: 'oauth', outcome: 'failure', reason } as const;
  await noteAttempt(auth, callerOf(context), attempt, (emit) =>
    emit('oauth.refused', null, { provider: provider.name, reason }),
  );
}
