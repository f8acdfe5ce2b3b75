import { parseDuration } from '@twofold/schema';
import { failure } from '@twofold/runtime/errors';
import { addressMatcher } from '@twofold/runtime/http';
import type { RouteRules } from '../ingress/route-table.ts';
import { hashPassword } from '../ingress/passwords.ts';

/** How the ingress treats an app's requests. `HTTP_RULES` has the defaults. */
export interface HttpRules {
  /** Responses and WebSockets that may be open at once. */
  readonly max_connections: number;
  readonly compress: boolean;
  readonly rate_limit: {
    readonly requests: string;
    readonly burst?: number;
    readonly by?: 'ip' | 'app';
  } | null;
  /** The most bytes of a request body. */
  readonly max_body: number | null;
  /** Names with hashes of their passwords. */
  readonly basic_auth: readonly { readonly user: string; readonly hash: string }[] | null;
  readonly maintenance: { readonly message?: string; readonly allow?: readonly string[] } | null;
  readonly allow: readonly string[] | null;
  /** Seconds of silence after which a request is given up. */
  readonly timeout_s: number;
}

/** `HttpRules` as a user sends them. A user who has a password already may be sent without. */
export type HttpFields = Omit<Partial<HttpRules>, 'basic_auth'> & {
  readonly basic_auth?: readonly { readonly user: string; readonly password?: string }[] | null;
};

export const HTTP_RULES: HttpRules = {
  max_connections: 10_000,
  compress: true,
  rate_limit: null,
  max_body: null,
  basic_auth: null,
  maintenance: null,
  allow: null,
  timeout_s: 300,
};

/**
 * Hashes the passwords.
 *
 * @throws AppError 400 for a new user without a password.
 */
export async function hashPasswords(
  { basic_auth, ...rest }: HttpFields,
  known: Partial<HttpRules> = {},
): Promise<Partial<HttpRules>> {
  if (!basic_auth) return { ...rest, ...(basic_auth === null && { basic_auth }) };
  const users: { user: string; hash: string }[] = [];
  for (const { user, password } of basic_auth) {
    const before = known.basic_auth?.find((each) => each.user === user)?.hash;
    if (users.some((each) => each.user === user))
      throw failure.badRequest(`http.basic_auth names ${user} twice`);
    const hash = password === undefined ? before : await hashPassword(password);
    if (hash === undefined)
      throw failure.badRequest(`http.basic_auth: ${user} is new and needs a password`);
    users.push({ user, hash });
  }
  return { ...rest, basic_auth: users.length > 0 ? users : null };
}

/** @throws AppError 400 for an address that is none. */
export function assertHttpRules({ allow, maintenance }: Partial<HttpRules>): void {
  assertRanges('http.allow', allow ?? []);
  assertRanges('http.maintenance.allow', maintenance?.allow ?? []);
}

function assertRanges(key: string, ranges: readonly string[]): void {
  for (const range of ranges)
    try {
      addressMatcher([range]);
    } catch {
      throw failure.badRequest(
        `${key}: ${range} is neither an address nor a range such as 10.0.0.0/8`,
      );
    }
}

/** The rules in the form that the ingress uses. Those that have no effect are left out. */
export function toRouteRules(given: Partial<HttpRules> = {}): RouteRules {
  const rules = { ...HTTP_RULES, ...given };
  const { rate_limit, max_body, basic_auth, maintenance, allow, timeout_s } = rules;
  return {
    ...(!rules.compress && { compress: false }),
    ...(rate_limit && { rateLimit: toRate(rate_limit) }),
    ...(max_body !== null && { maxBody: max_body }),
    ...(basic_auth && { basicAuth: basic_auth }),
    ...(maintenance && {
      maintenance: { message: maintenance.message ?? null, allow: maintenance.allow ?? [] },
    }),
    ...(allow && { allow }),
    ...(timeout_s !== HTTP_RULES.timeout_s && { timeout: timeout_s * 1000 }),
  };
}

function toRate({
  requests,
  burst,
  by = 'ip',
}: NonNullable<HttpRules['rate_limit']>): NonNullable<RouteRules['rateLimit']> {
  const [count = '1', period = '1s'] = requests.split('/');
  const window = parseDuration(period) ?? 1000;
  return { count: Number(count), window, burst: burst ?? Number(count), by };
}

/** The rules as the API shows them, without hashes. */
export function showHttpRules(given: Partial<HttpRules> = {}): Record<string, unknown> {
  const rules = { ...HTTP_RULES, ...given };
  return { ...rules, basic_auth: rules.basic_auth?.map(({ user }) => ({ user })) ?? null };
}
