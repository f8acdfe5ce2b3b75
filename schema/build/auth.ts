import type { AuthValues } from '../manifest.ts';
import type { AuthModel, AuthUser, OAuthProvider, UserAttribute } from '../model.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import { identityFields } from './identity.ts';
import { duration, rateLimit } from './quantities.ts';

/** Attributes of a user that an entity may declare itself, in snake_case or camelCase. */
const ATTRIBUTES: readonly UserAttribute[] = [
  'email',
  'name',
  'first_name',
  'last_name',
  'username',
  'phone',
  'avatar_url',
  'last_login',
  'email_verified_at',
  'created_at',
  'updated_at',
];

/** The table that the runtime keeps when no entity is a user. */
const OWN_USERS: AuthUser = {
  entity: null,
  table: 'users',
  columns: { email: 'email', created_at: 'created_at', updated_at: 'updated_at' },
  identity: ['email'],
  registerFields: [],
};

/** `auth:` of the manifest, and which entity is a user; null when it is not there. */
export function buildAuth(facts: Facts): AuthModel | null {
  const { auth } = facts.manifest.values;
  return auth ? { ...buildPolicies(auth), user: buildUser(facts, auth) } : null;
}

function buildPolicies(auth: AuthValues): Omit<AuthModel, 'user'> {
  const { roles, jwt, refresh, password, lockout, oauth, events } = auth;
  return {
    profile: auth.profile,
    roles: roles && {
      list: roles.list,
      default: roles.default ?? roles.list.at(-1) ?? '',
      first: roles.first,
    },
    jwt: {
      ttl: duration(jwt.ttl),
      leeway: duration(jwt.leeway),
      issuer: jwt.issuer,
      audience: jwt.audience,
      maxBytes: jwt.max_bytes,
    },
    refresh: {
      enabled: refresh.enabled,
      idle: duration(refresh.idle),
      absolute: duration(refresh.absolute),
      grace: duration(refresh.grace),
      delivery: refresh.delivery,
    },
    password: {
      min: password.min,
      max: password.max,
      score: password.score,
      bcryptCost: password.bcrypt_cost,
      contextWords: password.context_words,
      hashConcurrency: password.hash_concurrency,
      hashQueue: password.hash_queue,
    },
    lockout: {
      attempts: lockout.attempts,
      window: duration(lockout.window),
      duration: duration(lockout.duration),
      factor: lockout.factor,
      max: duration(lockout.max),
      hardAfter: lockout.hard_after,
    },
    requireApiKey: auth.require_api_key,
    requireVerifiedEmail: auth.require_verified_email,
    enumeration: auth.enumeration,
    rateLimits: Object.fromEntries(
      Object.entries(auth.rate_limits).map(([name, limit]) => [name, rateLimit(limit)]),
    ),
    ...routeLimits(auth),
    oauth: {
      linking: oauth.linking,
      returnTo: oauth.return_to,
      providers: Object.entries(oauth.providers).map(provider),
    },
    events: {
      webhooks: events.webhooks.map(({ url, secret_env, types }) => ({
        url,
        secretEnv: secret_env,
        types,
      })),
      alertEmail: events.alert_email,
      retention: duration(events.retention),
    },
  };
}

function routeLimits(auth: AuthValues): Pick<AuthModel, 'routeLimits'> {
  const entries = Object.entries(auth.routes);
  if (entries.length === 0) return {};
  const limits = entries.map(([route, { limit }]) => {
    const by = limit.split('/')[2] ?? 'ip';
    return [route, { ...rateLimit(limit), by: by as 'ip' | 'user' | 'key' }] as const;
  });
  return { routeLimits: Object.fromEntries(limits) };
}

function provider([name, values]: readonly [
  string,
  Readonly<Record<string, unknown>> | null,
]): OAuthProvider {
  const { preset, ...options } = values ?? {};
  return { name, preset: typeof preset === 'string' ? preset : name, options };
}

/**
 * The entity that is a user: the one that the manifest names, else `User` if it has an email.
 *
 * @example
 * userEntity(facts)?.name // 'User'
 */
export function userEntity(facts: Facts): EntityFact | undefined {
  const { auth } = facts.manifest.values;
  if (!auth) return undefined;
  const entity = facts.entities.get(auth.user ?? 'User');
  return entity && userAttributes(entity).has('email') ? entity : undefined;
}

/** The attributes that an entity declares: `avatarUrl` and `avatar_url` are both the avatar's address. */
export function userAttributes(entity: EntityFact): ReadonlyMap<UserAttribute, FieldFact> {
  const known = new Set<string>(ATTRIBUTES);
  const fields = [...entity.fields.values()].filter(
    (field) => isPlain(field) && known.has(field.snakeName),
  );
  return new Map(fields.map((field) => [field.snakeName as UserAttribute, field]));
}

function isPlain(field: FieldFact): boolean {
  return (
    field.type.kind === 'scalar' &&
    !field.type.list &&
    field.args.length === 0 &&
    !field.directives.computed
  );
}

function buildUser(facts: Facts, auth: AuthValues): AuthUser {
  const entity = userEntity(facts);
  if (!entity) return OWN_USERS;
  const columns = [...userAttributes(entity)].map(([attribute, field]) => [
    attribute,
    field.snakeName,
  ]);
  return {
    entity: entity.name,
    table: entity.table,
    columns: Object.fromEntries(columns),
    identity: [...identityFields(entity).keys()].map((field) => field.snakeName),
    registerFields: auth.register.fields,
  };
}
