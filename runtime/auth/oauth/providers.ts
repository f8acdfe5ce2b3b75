import { createRequire } from 'node:module';
import type { OAuthProvider } from '@twofold/schema';
import type { Settings } from '@twofold/runtime/kernel';
import type { ProviderCredentials } from './credentials.ts';
import { fetchJson, providerError } from './provider-http.ts';

/** Paths of an identity's parts in a provider's response, such as `sub` or `picture.data.url`. */
export interface ProfilePaths {
  readonly subject: string;
  readonly email: string;
  /** When absent, addresses of this provider never count as verified. */
  readonly email_verified?: string;
  readonly name: string;
  readonly avatar: string;
}

/** A provider with complete configuration. */
export interface Provider {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string;
  readonly preset: string;
  readonly authorizeUrl: string;
  readonly accessUrl: string;
  readonly profileUrl: string | null;
  readonly emailsUrl: string | null;
  readonly scope: readonly string[];
  /** Set for OpenID Connect: the id token is required and verified. */
  readonly oidc: {
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

const OIDC_PATHS: ProfilePaths = {
  subject: 'sub',
  email: 'email',
  email_verified: 'email_verified',
  name: 'name',
  avatar: 'picture',
};

/** Values that the presets of grant lack. */
const PRESETS: Readonly<
  Record<
    string,
    {
      readonly paths: ProfilePaths;
      readonly scope: readonly string[];
      readonly issuer?: string;
      readonly jwksUrl?: string;
      readonly emailsUrl?: string;
      readonly profileUrl?: string;
    }
  >
> = {
  google: {
    paths: OIDC_PATHS,
    scope: ['openid', 'email', 'profile'],
    issuer: 'https://accounts.google.com',
    jwksUrl: 'https://www.googleapis.com/oauth2/v3/certs',
  },
  github: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'avatar_url' },
    scope: ['read:user', 'user:email'],
    emailsUrl: 'https://api.github.com/user/emails',
  },
  facebook: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'picture.data.url' },
    scope: ['email', 'public_profile'],
  },
  oidc: { paths: OIDC_PATHS, scope: ['openid', 'email', 'profile'] },
  oauth2: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'avatar_url' },
    scope: [],
  },
};

/** Fields that the Graph API only gives when asked. */
const FACEBOOK_FIELDS = 'id,name,email,picture';

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
  const known = grantPreset(preset);
  const own = PRESETS[preset];
  if (!known && !own) return null;
  const text = (key: string) =>
    typeof options[key] === 'string' ? (options[key] as string) : undefined;
  // Another issuer has other endpoints, which its discovery document names.
  const endpoints = text('issuer') === undefined ? known : null;
  const base = own ?? { paths: PRESETS['oauth2']!.paths, scope: [] };
  const verified = text('email_verified') ?? base.paths.email_verified;
  const profileUrl = text('profile_url') ?? endpoints?.profile_url ?? null;
  return {
    ...credentials,
    name,
    preset,
    authorizeUrl: text('authorize_url') ?? endpoints?.authorize_url,
    accessUrl: text('access_url') ?? endpoints?.access_url,
    profileUrl:
      preset === 'facebook' && profileUrl
        ? withQuery(profileUrl, 'fields', FACEBOOK_FIELDS)
        : profileUrl,
    emailsUrl:
      text('emails_url') ??
      (preset === 'github' ? (emailsBeside(text('profile_url')) ?? base.emailsUrl ?? null) : null),
    issuer: text('issuer') ?? base.issuer ?? null,
    jwksUrl: text('jwks_url') ?? (text('issuer') ? null : (base.jwksUrl ?? null)),
    scope: scopeOf(options['scope']) ?? base.scope,
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

function withQuery(url: string, name: string, value: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set(name, value);
  return parsed.href;
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

/** Looks up the preset of grant. Inherited keys such as `constructor` are no presets. */
function grantPreset(
  name: string,
): { authorize_url?: string; access_url?: string; profile_url?: string } | null {
  const require = createRequire(import.meta.url);
  const endpoints = require('grant/config/oauth.json') as Record<
    string,
    { oauth?: number; authorize_url?: string; access_url?: string }
  >;
  const profiles = require('grant/config/profile.json') as Record<string, { profile_url?: string }>;
  if (!Object.hasOwn(endpoints, name) || endpoints[name]!.oauth !== 2) return null;
  return { ...endpoints[name], ...(Object.hasOwn(profiles, name) && profiles[name]) };
}
