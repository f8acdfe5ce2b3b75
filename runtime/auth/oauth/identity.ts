import { isEmail } from '@twofold/schema';
import { printable } from '../base/caller.ts';
import type { FlowSecrets, ProviderTokens } from './grant.ts';
import { type IdTokens, notVerified } from './id-token.ts';
import { fetchJson } from './provider-http.ts';
import type { Provider } from './providers.ts';

/** A user at a provider, identified by `provider` and `subject` together (ASVS 6.8.1). */
export interface Identity {
  readonly provider: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly avatarUrl: string;
}

/**
 * Reads the identity from the id token, from the profile, or from both.
 *
 * @throws AppError 401, 502
 */
export async function readIdentity(
  provider: Provider,
  idTokens: IdTokens,
  tokens: ProviderTokens,
  secrets: FlowSecrets,
): Promise<Identity> {
  const claims = provider.oidc
    ? await idTokens.verify(provider, tokens.id_token ?? '', secrets.nonce)
    : null;
  if (claims && (!provider.profileUrl || valueAt(claims, provider.paths.email) !== undefined))
    return toIdentity(provider, claims);
  const profile = await readProfile(provider, tokens.access_token);
  // The profile and the id token belong to different users, so a token was swapped.
  if (claims && profile['sub'] !== claims['sub']) throw notVerified('subject');
  return toIdentity(
    provider,
    await withEmails(provider, tokens.access_token, { ...profile, ...claims }),
  );
}

async function readProfile(
  { profileUrl }: Provider,
  accessToken: string,
): Promise<Record<string, unknown>> {
  const profile = await fetchJson(profileUrl ?? '', { authorization: `Bearer ${accessToken}` });
  if (typeof profile !== 'object' || profile === null || Array.isArray(profile))
    throw notVerified('profile');
  return profile as Record<string, unknown>;
}

/** GitHub lists addresses at another URL. Only the primary one is used, and only if verified. */
async function withEmails(
  { emailsUrl }: Provider,
  accessToken: string,
  profile: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  if (!emailsUrl) return profile;
  const listed = await fetchJson(emailsUrl, { authorization: `Bearer ${accessToken}` });
  const primary = Array.isArray(listed)
    ? (listed as Record<string, unknown>[]).find(
        (each) => each?.['primary'] === true && each['verified'] === true,
      )
    : undefined;
  return {
    ...profile,
    email: primary?.['email'] ?? profile['email'],
    [VERIFIED_BY_GITHUB]: primary !== undefined,
  };
}

/** Marks an address that GitHub has verified. JSON from a provider cannot contain a symbol. */
const VERIFIED_BY_GITHUB = Symbol('the address is proved');

/** Apple and Microsoft also write a text. */
const TRUE: readonly unknown[] = [true, 'true', '1'];

/** Reads the identity from a provider's response. @throws AppError 401 when it has no subject. */
export function toIdentity(
  { name, paths }: Provider,
  profile: Record<PropertyKey, unknown>,
): Identity {
  const subject = exactSubject(valueAt(profile, paths.subject));
  const email = valueAt(profile, paths.email);
  const valid = typeof email === 'string' && isEmail(email);
  const claimed =
    paths.email_verified !== undefined && TRUE.includes(valueAt(profile, paths.email_verified));
  return {
    provider: name,
    subject,
    email: valid ? email : null,
    emailVerified: valid && (claimed || profile[VERIFIED_BY_GITHUB] === true),
    name: shortText(valueAt(profile, paths.name)),
    avatarUrl: avatar(valueAt(profile, paths.avatar)),
  };
}

/**
 * The subject as the provider wrote it. Nothing is cut or rewritten, because two subjects that differ
 * are two users: what cannot be compared exactly is refused.
 */
function exactSubject(value: unknown): string {
  const text = Number.isSafeInteger(value) && Number(value) > 0 ? String(value) : value;
  const exact =
    typeof text === 'string' &&
    text !== '' &&
    text.length <= 255 &&
    text === printable(text).trim() &&
    text.isWellFormed();
  if (!exact) throw notVerified('subject');
  return text;
}

const shortText = (value: unknown) =>
  typeof value === 'string' ? printable(value).trim().slice(0, 200) : '';

/** The name that Apple gives once, beside the code and not signed. An address in there is not read. */
export function nameInForm(user: string | undefined): string {
  try {
    const { name } = JSON.parse(user ?? '{}') as { name?: Record<string, unknown> };
    return [name?.['firstName'], name?.['lastName']].map(shortText).filter(Boolean).join(' ');
  } catch {
    return '';
  }
}

function avatar(value: unknown): string {
  return typeof value === 'string' &&
    value.length <= 2048 &&
    /^https?:\/\//.test(value) &&
    URL.canParse(value)
    ? printable(value)
    : '';
}

/** Returns the value at a path such as `picture.data.url`. Inherited properties are ignored. */
function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (part, key) =>
        typeof part === 'object' && part !== null && Object.hasOwn(part, key)
          ? (part as Record<string, unknown>)[key]
          : undefined,
      value,
    );
}
