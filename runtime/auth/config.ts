import { createPrivateKey } from 'node:crypto';
import { type AuthModel, providerSettings } from '@twofold/schema';
import type { Settings } from '@twofold/runtime/kernel';
import { randomToken } from './base/ids.ts';
import {
  configuredProviders,
  type ProviderCredentials,
  type SigningKey,
} from './oauth/providers.ts';
import { readRelyingParty, type RelyingParty } from './passkeys/relying-party.ts';
import { MINUTE } from './base/time.ts';

/** The checked settings. No member may be written to a log. */
export interface AuthConfig {
  /** Whether users sign in: the manifest has an `auth:` section. Otherwise only the operator does. */
  readonly users: boolean;
  /** Whether an operator signs in with `HOST_PASSWORD`. */
  readonly operator: boolean;
  readonly secret: string;
  readonly previousSecrets: readonly string[];
  readonly apiKey: string | null;
  readonly bcryptCost: number;
  readonly limitsEnabled: boolean;
  /** Base of every link in a mail, without a trailing slash. */
  readonly appUrl: string;
  /** Whether cookies are `Secure`: in production, and whenever `APP_URL` is https. */
  readonly secureCookies: boolean;
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly oauthSuccessRedirect: string | null;
  /** The operator's password, as a bcrypt hash or as plain text; null when none is set. */
  readonly host: { readonly hash: string } | { readonly password: string } | null;
  readonly providers: readonly ProviderCredentials[];
  readonly webhooks: readonly {
    readonly url: string;
    readonly secret: string;
    readonly types: readonly string[];
  }[];
  /** Whether webhooks may go to private and loopback addresses. */
  readonly allowPrivateWebhooks: boolean;
  /** `AUTH_ALLOW_WEAK_SECRETS`. `weakSecrets` then says which secrets are weak and why. */
  readonly allowsWeakSecrets: boolean;
  readonly weakSecrets: readonly string[];
  /** `SETUP_TOKEN`: a user who sends it becomes the first administrator. */
  readonly setupToken: string | null;
  /** Null when passkeys are off. */
  readonly passkeys: RelyingParty | null;
}

/** Secrets that are common in examples. */
const KNOWN_SECRETS = /^(secret|changeme|change_me.*|my_super_secret_key.*)$/i;
const KNOWN_KEYS = /^(api|test_api_key|changeme|change_me.*)$/i;
const BCRYPT_HASH = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;
const PROVIDER_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/** The kinds of sign-in for which the settings are read. */
export interface AuthPurpose {
  readonly model: AuthModel;
  /** Whether the manifest has an `auth:` section, so that users sign in. */
  readonly users: boolean;
  /** Whether the server hosts, so that an operator signs in. */
  readonly host: boolean;
  /** The port of the manifest; 8080 when absent. */
  readonly port?: number;
  /** A bcrypt cost below 10, for tests only. */
  readonly cost?: number | undefined;
}

/**
 * Reads and checks the settings of the module. Every problem is reported to `settings` with the
 * name of the setting but without its value, so that a server lists all problems before it exits.
 */
export function readAuthConfig(
  settings: Settings,
  { model, users, host, cost, port }: AuthPurpose,
): AuthConfig {
  const weakAllowed = allowsWeakSecrets(settings);
  const weak: string[] = [];
  const secret = readSecret(settings, weak);
  const apiKey = readApiKey(settings, weak);
  if (!weakAllowed) weak.forEach(settings.problem);
  checkModel(settings, model, cost);
  const appUrl = readAppUrl(settings, users, port);
  return {
    users,
    operator: host,
    secret,
    previousSecrets: (settings.text('JWT_SECRET_PREVIOUS') ?? '')
      .split(',')
      .map((text) => text.trim())
      .filter(Boolean),
    apiKey,
    bcryptCost: cost ?? model.password.bcryptCost,
    limitsEnabled: readLimitsFlag(settings),
    appUrl,
    secureCookies: settings.production || appUrl.startsWith('https:'),
    smtpUrl: settings.text('SMTP_URL') ?? null,
    mailFrom: settings.text('MAIL_FROM', 'no-reply@localhost'),
    oauthSuccessRedirect: settings.text('OAUTH_SUCCESS_REDIRECT') ?? null,
    host: host ? readHostPassword(settings) : null,
    providers: readProviders(settings, model),
    webhooks: readWebhooks(settings, model),
    allowPrivateWebhooks: settings.flag('WEBHOOK_ALLOW_PRIVATE', !settings.production),
    allowsWeakSecrets: weakAllowed,
    weakSecrets: weakAllowed ? weak : [],
    setupToken: readSetupToken(settings),
    passkeys: users ? readRelyingParty(settings, model, appUrl) : null,
  };
}

function allowsWeakSecrets(settings: Settings): boolean {
  const asked = settings.flag('AUTH_ALLOW_WEAK_SECRETS', false);
  if (asked && settings.production)
    settings.problem(
      'AUTH_ALLOW_WEAK_SECRETS is refused in production: set strong secrets instead',
    );
  return asked && !settings.production;
}

/** Returns the secret unchanged, so that other services can verify tokens with the same text. */
function readSecret(settings: Settings, weak: string[]): string {
  const secret = settings.exact('JWT_SECRET') ?? '';
  if (secret.trim() === '') {
    settings.problem(
      'JWT_SECRET is missing: set it to 32 random bytes, for instance with `openssl rand -base64 32`',
    );
    return randomToken(32);
  }
  if (KNOWN_SECRETS.test(secret.trim()))
    weak.push('JWT_SECRET is a well-known example: set it to 32 random bytes');
  else if (Buffer.byteLength(secret) < 32)
    weak.push('JWT_SECRET is shorter than 32 bytes: set it to 32 random bytes');
  return secret;
}

function readApiKey(settings: Settings, weak: string[]): string | null {
  const key = settings.text('API_KEY');
  if (key === undefined) return null;
  if (KNOWN_KEYS.test(key)) weak.push('API_KEY is a well-known example: set it to 32 random bytes');
  else if (key.length < 16)
    weak.push('API_KEY is shorter than 16 characters: set it to 32 random bytes');
  return key;
}

function readSetupToken(settings: Settings): string | null {
  const token = settings.text('SETUP_TOKEN');
  if (token === undefined) return null;
  if (token.length < 32)
    settings.problem(
      'SETUP_TOKEN is shorter than 32 characters: set it to 32 random bytes, for instance with `openssl rand -base64 32`',
    );
  return token;
}

function checkModel(settings: Settings, model: AuthModel, cost: number | undefined): void {
  const { jwt, refresh, password } = model;
  if (cost === undefined && (password.bcryptCost < 10 || password.bcryptCost > 15))
    settings.problem('auth.password.bcrypt_cost must be from 10 to 15');
  if (jwt.leeway > MINUTE) settings.problem('auth.jwt.leeway must be at most 60s');
  if (refresh.idle > refresh.absolute)
    settings.problem('auth.refresh.idle must not be longer than auth.refresh.absolute');
}

function readLimitsFlag(settings: Settings): boolean {
  const enabled = settings.flag('RATE_LIMIT_ENABLED', true);
  if (!enabled && settings.production)
    settings.problem('RATE_LIMIT_ENABLED=false is refused in production: it is for load tests');
  return enabled;
}

/**
 * In production `APP_URL` must be set, because no default can be the right address for links in
 * mails, and it must be https, because such a link contains a token.
 */
function readAppUrl(settings: Settings, users: boolean, port = 8080): string {
  const given = settings.text('APP_URL');
  const text = given ?? `http://localhost:${settings.text('PORT', String(port))}`;
  const url = parseUrl(text);
  const demanded = settings.production && users;
  if (demanded && given === undefined)
    settings.problem(
      'APP_URL is missing: set it to the address where people reach the app, ' +
        'for instance https://shop.example; links of mails begin with it',
    );
  else if (!url || !/^https?:$/.test(url.protocol))
    settings.problem('APP_URL must be an http or https address');
  else if (demanded && !isSafe(url))
    settings.problem('APP_URL must be https in production, except on a loopback address');
  return text.replace(/\/+$/, '');
}

function readHostPassword(settings: Settings): AuthConfig['host'] {
  const hash = settings.text('HOST_PASSWORD_HASH');
  const password = settings.exact('HOST_PASSWORD');
  if (hash !== undefined && !BCRYPT_HASH.test(hash))
    settings.problem('HOST_PASSWORD_HASH must be a bcrypt hash');
  if (hash !== undefined) return { hash };
  return password ? { password } : null;
}

function readProviders(settings: Settings, model: AuthModel): ProviderCredentials[] {
  const seen = new Set<string>();
  return configuredProviders(model.oauth.providers).flatMap(({ name, preset }) => {
    if (seen.has(name)) settings.problem(`auth.oauth.providers: ${name} stands there twice`);
    seen.add(name);
    // `exchange` cannot be a provider's name, because `POST /api/oauth/exchange` is another route.
    if (!PROVIDER_NAME.test(name) || name.includes('defaults') || name === 'exchange')
      settings.problem(`auth.oauth.providers: ${name} is not a name that a provider can have`);
    return readProvider(settings, name, preset) ?? [];
  });
}

/** A provider without any of its settings is off. */
function readProvider(
  settings: Settings,
  name: string,
  preset: string,
): ProviderCredentials | null {
  const parts = providerSettings(name, preset);
  const values = parts.map((part) => settings.text(part));
  if (values.slice(0, -1).every((value) => !value)) return null;
  parts
    .filter((_, index) => !values[index])
    .forEach((part) => settings.problem(`${part} is missing: ${name} is half configured`));
  if (!values.every((value) => value !== undefined && value !== '')) return null;
  const [clientId, ...secret] = values as [string, ...string[]];
  const redirectUrl = secret.pop()!;
  checkRedirect(settings, parts.at(-1)!, redirectUrl, name);
  const clientSecret = secret.length === 1 ? secret[0]! : signingKey(settings, parts[3]!, secret);
  return clientSecret === null ? null : { name, clientId, clientSecret, redirectUrl };
}

/** Apple's key is a file of several lines, which a setting may hold in one with `\\n`. */
function signingKey(
  settings: Settings,
  setting: string,
  [teamId = '', keyId = '', text = '']: readonly string[],
): SigningKey | null {
  try {
    const privateKey = createPrivateKey(text.replaceAll(String.raw`\n`, '\n'));
    if (privateKey.asymmetricKeyDetails?.namedCurve === 'prime256v1')
      return { teamId, keyId, privateKey };
  } catch {
    // The message of the library could hold a part of the key.
  }
  settings.problem(`${setting} must be the text of the key that Apple gave: AuthKey_….p8`);
  return null;
}

function checkRedirect(settings: Settings, setting: string, text: string, name: string): void {
  const url = parseUrl(text);
  if (!url) return settings.problem(`${setting} is not an address`);
  if (url.pathname !== `/api/oauth/${name}/callback`)
    settings.problem(`${setting} must have the path /api/oauth/${name}/callback`);
  if (!isSafe(url)) settings.problem(`${setting} must be https, except on a loopback address`);
  if (url.hash || text.includes('#')) settings.problem(`${setting} must not have a fragment`);
}

function readWebhooks(settings: Settings, model: AuthModel): AuthConfig['webhooks'] {
  return model.events.webhooks.flatMap(({ url, secretEnv, types }) => {
    const address = parseUrl(url);
    if (!address || !isSafe(address))
      settings.problem(
        'auth.events.webhooks: an address must be https, except on a loopback address',
      );
    const secret = settings.text(secretEnv);
    if (secret) return [{ url, secret, types }];
    settings.problem(`${secretEnv} is missing: it signs a webhook`);
    return [];
  });
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** Whether the URL is https, or http to a loopback address. */
export function isSafe(url: URL): boolean {
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' &&
      /^(([a-z0-9-]+\.)*localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname))
  );
}
