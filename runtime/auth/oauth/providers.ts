import type { KeyObject } from 'node:crypto';
import type { OAuthProvider } from '@twofold/schema';
import type { Settings } from '@twofold/runtime/kernel';
import { presetOf, type ProfilePaths } from './presets.ts';
import { fetchJson, providerError } from './provider-http.ts';

/** A provider with complete configuration. */
export interface Provider extends ProviderCredentials {
  readonly preset: string;
  readonly authorizeUrl: string;
  readonly accessUrl: string;
  readonly profileUrl: string | null;
  readonly emailsUrl: string | null;
  readonly scope: readonly string[];
  /** Parameters of the address of the provider, beside those of OAuth 2. */
  readonly params: Readonly<Record<string, string>>;
  readonly pkce: boolean;
  /** Set for OpenID Connect: the id token is required and verified. */
  readonly oidc: {
    /** May hold `{tenantid}`, which stands for the claim `tid` of the token. */
    readonly issuer: string;
    readonly jwksUrl: string;
    readonly issuerInResponse: boolean;
    /** Signature algorithms that the provider announces for id tokens. */
    readonly algorithms?: readonly string[];
  } | null;
  readonly paths: ProfilePaths;
  /** Whether a page can sign in with an id token that it got itself (`id_token: true`). */
  readonly takesIdTokens: boolean;
}

/** Whether browsers reach this server by https, judged by the redirect address of the provider. */
export const isSecure = ({ redirectUrl }: Provider) => redirectUrl.startsWith('https:');

/** Whether the provider sends people back by a form of its own site, which needs other cookies. */
export const postsForm = ({ params }: Provider) => params['response_mode'] === 'form_post';

/** Providers by name. A discovery document is fetched on first use, and again after a failure. */
export interface Providers {
  readonly names: readonly string[];
  get(name: string): Promise<Provider> | null;
}

type Draft = Omit<Provider, 'authorizeUrl' | 'accessUrl' | 'oidc' | 'profileUrl'> & {
  readonly authorizeUrl: string | undefined;
  readonly accessUrl: string | undefined;
  readonly profileUrl: string | null;
  readonly issuer: string | null;
  readonly jwksUrl: string | null;
};

/** Providers of the manifest, and Google, GitHub and Facebook, which need only their settings. */
export function configuredProviders(listed: readonly OAuthProvider[]): OAuthProvider[] {
  const builtIn = ['google', 'github', 'facebook'].filter(
    (name) => !listed.some((each) => each.name === name),
  );
  return [...listed, ...builtIn.map((name) => ({ name, preset: name, options: {} }))];
}

/** Checks the providers that have credentials. Problems are reported to `settings`. */
export function createProviders(
  settings: Settings,
  listed: readonly OAuthProvider[],
  credentials: readonly ProviderCredentials[],
): Providers {
  const drafts = new Map<string, Draft>();
  const ready = new Map<string, Promise<Provider>>();
  for (const given of credentials) {
    const said = listed.find(({ name }) => name === given.name);
    const draft = said && draftOf(said, given);
    if (!draft)
      settings.problem(
        `auth.oauth.providers.${given.name}: there is no preset ${said?.preset ?? given.name}`,
      );
    else if (!isComplete(draft))
      settings.problem(
        `auth.oauth.providers.${given.name}: authorize_url, access_url and profile_url are needed, or an issuer`,
      );
    else drafts.set(given.name, draft);
  }
  return {
    names: [...drafts.keys()],
    get: (name) => {
      const draft = drafts.get(name);
      if (!draft) return null;
      const known = ready.get(name) ?? discover(draft);
      ready.set(name, known);
      known.catch(() => ready.delete(name));
      return known;
    },
  };
}

function isComplete({ authorizeUrl, accessUrl, profileUrl, issuer }: Draft): boolean {
  return (
    issuer !== null ||
    (authorizeUrl !== undefined && accessUrl !== undefined && profileUrl !== null)
  );
}

function draftOf(
  { name, preset, options }: OAuthProvider,
  credentials: ProviderCredentials,
): Draft | null {
  const text = (key: string) =>
    typeof options[key] === 'string' ? (options[key] as string) : undefined;
  const base = presetOf(preset, text('tenant'));
  if (!base) return null;
  // Another issuer has other endpoints, which its discovery document names.
  const endpoints: Partial<typeof base> = text('issuer') === undefined ? base : {};
  const verified = text('email_verified') ?? base.paths.email_verified;
  return {
    ...credentials,
    name,
    preset,
    authorizeUrl: text('authorize_url') ?? endpoints.authorizeUrl,
    accessUrl: text('access_url') ?? endpoints.accessUrl,
    profileUrl: text('profile_url') ?? endpoints.profileUrl ?? null,
    emailsUrl:
      text('emails_url') ??
      (preset === 'github' ? (emailsBeside(text('profile_url')) ?? base.emailsUrl ?? null) : null),
    issuer: text('issuer') ?? base.issuer ?? null,
    jwksUrl: text('jwks_url') ?? endpoints.jwksUrl ?? null,
    scope: scopeOf(options['scope']) ?? base.scope,
    params: base.params ?? {},
    pkce: base.pkce ?? true,
    takesIdTokens: options['id_token'] === true,
    paths: {
      subject: text('subject') ?? base.paths.subject,
      email: text('email') ?? base.paths.email,
      name: text('name') ?? base.paths.name,
      avatar: text('avatar') ?? base.paths.avatar,
      ...(verified !== undefined && { email_verified: verified }),
    },
  };
}

const emailsBeside = (profileUrl: string | undefined) =>
  profileUrl === undefined ? undefined : `${profileUrl.replace(/\/+$/, '')}/emails`;

function scopeOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(/[\s,]+/).filter(Boolean);
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** Adds the values of the discovery document, whose `issuer` must be the configured one. */
async function discover({
  issuer,
  jwksUrl,
  authorizeUrl,
  accessUrl,
  profileUrl,
  ...draft
}: Draft): Promise<Provider> {
  const urls = { authorizeUrl: authorizeUrl ?? '', accessUrl: accessUrl ?? '', profileUrl };
  if (issuer === null) return { ...draft, ...urls, oidc: null };
  if (jwksUrl && authorizeUrl && accessUrl)
    return { ...draft, ...urls, oidc: { issuer, jwksUrl, issuerInResponse: false } };
  const found = (await fetchJson(
    `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
  )) as Record<string, unknown>;
  const read = (key: string) =>
    typeof found[key] === 'string' ? (found[key] as string) : undefined;
  const [authorize, access, jwks] = [
    authorizeUrl ?? read('authorization_endpoint'),
    accessUrl ?? read('token_endpoint'),
    jwksUrl ?? read('jwks_uri'),
  ];
  if (read('issuer') !== issuer || !authorize || !access || !jwks)
    throw providerError('the issuer describes another one, or not enough');
  const algorithms = found['id_token_signing_alg_values_supported'];
  return {
    ...draft,
    authorizeUrl: authorize,
    accessUrl: access,
    profileUrl: profileUrl ?? read('userinfo_endpoint') ?? null,
    oidc: {
      issuer,
      jwksUrl: jwks,
      issuerInResponse: found['authorization_response_iss_parameter_supported'] === true,
      ...(Array.isArray(algorithms) && { algorithms: algorithms.map(String) }),
    },
  };
}

/** An OAuth provider's credentials, from the environment. */
export interface ProviderCredentials {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string | SigningKey;
  readonly redirectUrl: string;
}

/** Apple's key, which signs a secret for each call. */
export interface SigningKey {
  readonly teamId: string;
  readonly keyId: string;
  readonly privateKey: KeyObject;
}
