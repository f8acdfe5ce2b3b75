import type { Section } from '../manifest/section.ts';
import { authSchema, providerSchema, type AuthValues } from './manifest.ts';
import { tenancyOf } from './organizations.ts';
import { withProfile } from './profiles.ts';

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
