import type { Section, Tenancy } from '../manifest/section.ts';
import { authSchema, providerSchema, type AuthValues } from './manifest.ts';
import type { Data } from '../manifest/shape.ts';

/** `auth:` of the manifest. */
export const authSection = {
  name: 'auth',
  schema: authSchema,
  definitions: { provider: providerSchema },
  settings: { 'jwt.secret': 'JWT_SECRET' },
  notSecret: ['secret_env', 'context_words'],
  withDefaults: withProfile,
  settingFor([first, second, provider]) {
    if (first === 'jwt') return 'JWT_SECRET';
    if (first !== 'oauth' || second !== 'providers' || provider === undefined) return undefined;
    return `${provider.replaceAll('-', '_').toUpperCase()}_CLIENT_SECRET`;
  },
  signIn: ({ user, roles, organizations, extend }: AuthValues) => ({
    ...(user !== undefined && { user }),
    ...(roles && { roles: roles.list }),
    ...(roles?.first && { first: roles.first }),
    ...(extend && { claims: extend }),
    ...(organizations && { tenancy: tenancyOf(organizations) }),
  }),
  trustedProxies: ({ trustedProxies = [] }: AuthValues) => trustedProxies,
} as const satisfies Section;

/** The table of memberships. */
export const MEMBERS = {
  table: 'auth_members',
  user: 'user_id',
  organization: 'organization_id',
} as const;

/** The parts of `auth.organizations` that inference and rules need. */
export function tenancyOf(values: NonNullable<AuthValues['organizations']>): Tenancy {
  const { type, roles, create } = values;
  return { type, roles, manage: managing(values), create, members: MEMBERS };
}

/** Without `manage`, every role but the lowest manages the organization. */
export function managing({
  roles,
  manage,
}: Pick<NonNullable<AuthValues['organizations']>, 'roles' | 'manage'>): readonly string[] {
  return manage ?? roles.slice(0, Math.max(1, roles.length - 1));
}

const STRICT = {
  jwt: { ttl: '15m' },
  refresh: { delivery: 'cookie' },
  password: { min: 12, score: 3, bcrypt_cost: 12 },
  require_verified_email: true,
  enumeration: 'strict',
};

/** The defaults of each profile; values in the manifest take precedence. */
const PROFILES: ReadonlyMap<unknown, Data> = new Map<unknown, Data>([
  ['strict', STRICT],
  ['nist', { ...STRICT, password: { ...STRICT.password, min: 15 } }],
]);

/**
 * The `auth` section with the defaults of its profile.
 *
 * @example
 * withProfile({ profile: 'strict' }).jwt // { ttl: '15m' }
 */
function withProfile(auth: Data): Data {
  return layUnder(auth, PROFILES.get(auth['profile']) ?? {});
}

function layUnder(values: Data, defaults: Data): Data {
  const result = { ...values };
  for (const [key, value] of Object.entries(defaults)) {
    const own = values[key] ?? undefined;
    if (own === undefined) result[key] = value;
    else if (typeof own === 'object' && typeof value === 'object')
      result[key] = layUnder(own as Data, value as Data);
  }
  return result;
}
