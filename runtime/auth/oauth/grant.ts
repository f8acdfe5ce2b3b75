import { createRequire } from 'node:module';
import type { Agent } from 'node:http';
import { SignJWT } from 'jose';
import { InternalError } from '@twofold/runtime/errors';
import { notVerified } from './id-token.ts';
import { providerError, TIME_LIMIT, withBoundedAgent } from './provider-http.ts';
import type { Provider } from './providers.ts';

/** Secrets that a flow keeps between its start and its callback. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string | undefined;
  /** Absent for a provider without PKCE. */
  readonly code_verifier: string | undefined;
}

export interface ProviderTokens {
  readonly access_token: string;
  readonly id_token: string | undefined;
}

interface GrantInput {
  readonly method: 'GET';
  readonly params: { readonly provider: string; readonly override?: 'callback' };
  readonly query: Readonly<Record<string, string>>;
  readonly state: object;
  readonly session: object;
}

interface GrantOutput {
  readonly location?: string;
  readonly session: Record<string, string | undefined>;
  readonly state: { readonly response?: Record<string, any> };
}

type GrantCore = (options: {
  config: object;
  request: object;
  extend: readonly [];
}) => (input: GrantInput) => Promise<GrantOutput>;

/** Begins a flow: authorization code with PKCE S256 and state, and a nonce for OpenID Connect. */
export async function beginFlow(
  provider: Provider,
): Promise<{ readonly location: string; readonly secrets: FlowSecrets }> {
  const { location, session } = await runGrant(
    grantConfig(provider),
    {},
    { method: 'GET', params: { provider: provider.name }, query: {}, state: {}, session: {} },
  );
  const { state, nonce, code_verifier } = session;
  if (!location || !state || (provider.pkce && !code_verifier))
    throw new InternalError('grant did not begin the flow');
  return { location, secrets: { state, nonce, code_verifier } };
}

/**
 * Exchanges the provider's code for tokens.
 *
 * @throws AppError 502 when the provider gives no token.
 */
export async function exchangeCode(
  provider: Provider,
  secrets: FlowSecrets,
  code: string,
): Promise<ProviderTokens> {
  const config = { ...grantConfig(provider), client_secret: await clientSecret(provider) };
  const response = await withBoundedAgent(provider.accessUrl, (agent) =>
    runGrant(
      config,
      { timeout: TIME_LIMIT, agent },
      {
        method: 'GET',
        params: { provider: provider.name, override: 'callback' },
        query: { code, state: secrets.state },
        state: {},
        session: { provider: provider.name, ...secrets },
      },
    ),
  ).then(
    ({ state }) => state.response ?? {},
    (error: unknown) => Promise.reject(providerError(error)),
  );
  const { access_token, id_token, error } = response;
  // Grant itself checks audience and nonce.
  if (typeof error === 'string' && error.startsWith('Grant: OpenID Connect'))
    throw notVerified(error);
  if (typeof access_token !== 'string' || access_token === '')
    throw providerError(describeError(error));
  if (provider.oidc && typeof id_token !== 'string') throw providerError('no id token');
  return { access_token, id_token: typeof id_token === 'string' ? id_token : undefined };
}

/** Runs grant, which knows the differences of providers, without its HTTP handlers. */
function runGrant(
  config: ReturnType<typeof grantConfig>,
  request: { timeout?: number; agent?: Agent },
  input: GrantInput,
): Promise<GrantOutput> {
  const grant = createRequire(import.meta.url)('grant/lib/grant.js') as GrantCore;
  return grant({ config: { [input.params.provider]: config }, request, extend: [] })(input);
}

function grantConfig(provider: Provider) {
  return {
    // Grant finds the special cases of a preset by its name.
    ...(provider.preset !== provider.name && { [provider.preset]: true }),
    oauth: 2,
    authorize_url: provider.authorizeUrl,
    access_url: provider.accessUrl,
    client_id: provider.clientId,
    redirect_uri: provider.redirectUrl,
    scope: provider.scope,
    scope_delimiter: ' ',
    state: true,
    pkce: provider.pkce,
    custom_params: provider.params,
    ...(provider.oidc && { nonce: true }),
    transport: 'state',
    response: ['tokens'],
  };
}

/** Apple takes no secret that lasts: its key signs one, for this call. */
async function clientSecret({ clientId, clientSecret: given, oidc }: Provider): Promise<string> {
  if (typeof given === 'string') return given;
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: given.keyId })
    .setIssuer(given.teamId)
    .setSubject(clientId)
    .setAudience(oidc?.issuer ?? '')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(given.privateKey);
}

/** Describes an error of grant, which is a text or an object. */
function describeError(error: unknown): string {
  if (error === undefined) return 'the provider gave no token';
  return (typeof error === 'string' ? error : JSON.stringify(error)).slice(0, 200);
}
