import type { OAuthPreset } from '@twofold/schema';

/** Paths of an identity's parts in a provider's response, such as `sub` or `picture.data.url`. */
export interface ProfilePaths {
  readonly subject: string;
  readonly email: string;
  /** When absent, addresses of this provider never count as verified. */
  readonly email_verified?: string;
  readonly name: string;
  readonly avatar: string;
}

/** What is known of a provider. Without addresses, its discovery document names them. */
interface Preset {
  readonly paths: ProfilePaths;
  readonly scope: readonly string[];
  readonly authorizeUrl?: string;
  readonly accessUrl?: string;
  readonly profileUrl?: string;
  readonly emailsUrl?: string;
  readonly issuer?: string;
  readonly jwksUrl?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly pkce?: false;
}

const OIDC_PATHS: ProfilePaths = {
  subject: 'sub',
  email: 'email',
  email_verified: 'email_verified',
  name: 'name',
  avatar: 'picture',
};
const OIDC = { paths: OIDC_PATHS, scope: ['openid', 'email', 'profile'] } as const;
/** The organization of all personal accounts of Microsoft. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad';
const MICROSOFT = 'https://login.microsoftonline.com';

const PRESETS: Readonly<Record<OAuthPreset, Preset>> = {
  google: {
    ...OIDC,
    issuer: 'https://accounts.google.com',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    accessUrl: 'https://oauth2.googleapis.com/token',
    profileUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    jwksUrl: 'https://www.googleapis.com/oauth2/v3/certs',
  },
  github: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'avatar_url' },
    scope: ['read:user', 'user:email'],
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    accessUrl: 'https://github.com/login/oauth/access_token',
    profileUrl: 'https://api.github.com/user',
    emailsUrl: 'https://api.github.com/user/emails',
  },
  facebook: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'picture.data.url' },
    scope: ['email', 'public_profile'],
    authorizeUrl: 'https://www.facebook.com/dialog/oauth',
    accessUrl: 'https://graph.facebook.com/oauth/access_token',
    // The Graph API gives these fields only when asked.
    profileUrl: 'https://graph.facebook.com/me?fields=id,name,email,picture',
  },
  apple: {
    paths: OIDC_PATHS,
    scope: ['name', 'email'],
    issuer: 'https://appleid.apple.com',
    authorizeUrl: 'https://appleid.apple.com/auth/authorize',
    accessUrl: 'https://appleid.apple.com/auth/token',
    jwksUrl: 'https://appleid.apple.com/auth/keys',
    // Apple demands it of whoever asks for a name or an address.
    params: { response_mode: 'form_post' },
  },
  microsoft: {
    ...OIDC,
    // An address is text that an administrator of any organization can write, unless its domain is theirs.
    paths: { ...OIDC_PATHS, email_verified: 'xms_edov' },
    issuer: `${MICROSOFT}/{tenantid}/v2.0`,
    authorizeUrl: `${MICROSOFT}/{tenant}/oauth2/v2.0/authorize`,
    accessUrl: `${MICROSOFT}/{tenant}/oauth2/v2.0/token`,
    jwksUrl: `${MICROSOFT}/{tenant}/discovery/v2.0/keys`,
  },
  discord: {
    paths: {
      subject: 'id',
      email: 'email',
      email_verified: 'verified',
      name: 'global_name',
      avatar: '',
    },
    scope: ['identify', 'email'],
    authorizeUrl: 'https://discord.com/oauth2/authorize',
    accessUrl: 'https://discord.com/api/oauth2/token',
    profileUrl: 'https://discord.com/api/users/@me',
  },
  gitlab: {
    ...OIDC,
    authorizeUrl: 'https://gitlab.com/oauth/authorize',
    accessUrl: 'https://gitlab.com/oauth/token',
    profileUrl: 'https://gitlab.com/oauth/userinfo',
  },
  linkedin: {
    ...OIDC,
    authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
    accessUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
    profileUrl: 'https://api.linkedin.com/v2/userinfo',
    // LinkedIn refuses a `code_verifier`, and its id tokens have no nonce.
    pkce: false,
  },
  slack: {
    ...OIDC,
    issuer: 'https://slack.com',
    authorizeUrl: 'https://slack.com/openid/connect/authorize',
    accessUrl: 'https://slack.com/api/openid.connect.token',
    profileUrl: 'https://slack.com/api/openid.connect.userInfo',
    jwksUrl: 'https://slack.com/openid/connect/keys',
  },
  twitch: {
    paths: { ...OIDC_PATHS, name: 'preferred_username' },
    scope: ['openid', 'user:read:email'],
    issuer: 'https://id.twitch.tv/oauth2',
    authorizeUrl: 'https://id.twitch.tv/oauth2/authorize',
    accessUrl: 'https://id.twitch.tv/oauth2/token',
    jwksUrl: 'https://id.twitch.tv/oauth2/keys',
    params: {
      claims: JSON.stringify({
        id_token: { email: null, email_verified: null, picture: null, preferred_username: null },
      }),
    },
  },
  spotify: {
    paths: { subject: 'id', email: 'email', name: 'display_name', avatar: 'images.0.url' },
    scope: ['user-read-email'],
    authorizeUrl: 'https://accounts.spotify.com/authorize',
    accessUrl: 'https://accounts.spotify.com/api/token',
    profileUrl: 'https://api.spotify.com/v1/me',
  },
  oidc: OIDC,
  oauth2: {
    paths: { subject: 'id', email: 'email', name: 'name', avatar: 'avatar_url' },
    scope: [],
  },
};

/** @param tenant the accounts of Microsoft that sign in. Without one, all do. */
export function presetOf(name: string, tenant = 'common'): Preset | null {
  if (!Object.hasOwn(PRESETS, name)) return null;
  const preset = PRESETS[name as OAuthPreset];
  const id = tenant === 'consumers' ? CONSUMERS : tenant;
  const known = Object.entries(preset).map(([key, value]) => [
    key,
    typeof value === 'string'
      ? value.replace('{tenant}', tenant).replace('{tenantid}', id === 'common' ? '{tenantid}' : id)
      : value,
  ]);
  return Object.fromEntries(known) as Preset;
}
