import type { EntityFact, Facts } from '../build/facts.ts';
import { identityFields } from '../build/identity.ts';
import { userAttributes, userEntity } from '../build/user.ts';
import { duration, rateLimit } from '../manifest/quantities.ts';
import type { AuthValues } from './manifest.ts';
import type { AuthModel, AuthUser, OAuthProvider, Organizations } from './model.ts';
import { managing } from './section.ts';
import { DEFAULT_PAGES } from './pages.ts';
import { valuesOf } from '../parse/manifest.ts';
import type { Project } from '../model.ts';

/** The users table of the runtime, for projects in which no entity is the user. */
export const OWN_USERS: AuthUser = {
  entity: null,
  table: 'users',
  columns: { email: 'email', created_at: 'created_at', updated_at: 'updated_at' },
  identity: ['email'],
  registerFields: [],
};

/** The model of the section `auth:`, with the entity that is the user; null without the section. */
export function buildAuth(facts: Facts): AuthModel | null {
  const { auth } = facts.manifest.values;
  return auth ? authModel(auth, buildUser(facts, auth), buildOrganizations(facts, auth)) : null;
}

/** Values that have no form of their own in the model are copied from the manifest. */
export function authModel(
  auth: AuthValues,
  user: AuthUser,
  organizations?: Organizations,
): AuthModel {
  const { user: _named, register: _fields, trustedProxies: _proxies, routes, ...others } = auth;
  const { organizations: _organizations, extend: _claims, ...rest } = others;
  const { listeners: _file, ...events } = rest.events;
  return {
    ...rest,
    roles: rest.roles && {
      list: rest.roles.list,
      default: defaultRole(rest.roles),
      first: rest.roles.first,
    },
    ...routeLimits(routes),
    oauth: { ...rest.oauth, providers: Object.entries(rest.oauth.providers).map(provider) },
    events,
    ...(organizations && { organizations }),
    passkeys: rest.passkeys === true ? { rpId: null, origins: [] } : rest.passkeys,
    impersonation:
      rest.impersonation === true ? { notify: true, ttl: duration('15m') } : rest.impersonation,
    pages: rest.pages === true ? DEFAULT_PAGES : rest.pages,
    user,
  };
}

function buildOrganizations(facts: Facts, auth: AuthValues): Organizations | undefined {
  const entity = auth.organizations && facts.entities.get(auth.organizations.type);
  if (!auth.organizations || !entity) return undefined;
  const { roles, create, invitations } = auth.organizations;
  return {
    entity: entity.name,
    table: entity.table,
    ...(entity.schema !== undefined && { schema: entity.schema }),
    ...storedNames(entity),
    name: entity.fields.get('name')?.type.kind === 'scalar' ? 'name' : null,
    softDelete: entity.directives.entity?.softDelete ? 'deleted_at' : null,
    roles,
    manage: managing(auth.organizations),
    create,
    invitations,
  };
}

/** The names that `@column` gives to columns, where they differ from those of the model. */
function storedNames({ fields }: EntityFact): Pick<AuthUser, 'stored'> {
  const renamed = [...fields.values()].flatMap(({ name, snakeName, directives: { column } }) => {
    const known = name === 'id' ? 'id' : snakeName;
    return column?.name === undefined || column.name === known ? [] : [[known, column.name]];
  });
  return renamed.length > 0 ? { stored: Object.fromEntries(renamed) } : {};
}

function defaultRole(roles: NonNullable<AuthValues['roles']>): string {
  return roles.default ?? roles.list.at(-1) ?? '';
}

function routeLimits(routes: AuthValues['routes']): Pick<AuthModel, 'routeLimits'> {
  const entries = Object.entries(routes);
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
    ...(entity.schema !== undefined && { schema: entity.schema }),
    ...storedNames(entity),
    columns: Object.fromEntries(columns),
    identity: [...identityFields(entity).keys()].map((field) => field.snakeName),
    registerFields: auth.register.fields,
  };
}

/** The model of an `auth:` section that only has the profile of a project's. */
export function defaultsOfAuth({ auth }: Project): AuthModel | undefined {
  if (!auth) return undefined;
  const values = valuesOf({ name: 'app', auth: { profile: auth.profile } });
  return authModel(values.auth!, auth.user);
}

/** The model of an empty `auth:` section, with users in a table of the runtime. */
export function defaultAuth(): AuthModel {
  return authModel(valuesOf({ name: 'app', auth: {} }).auth!, OWN_USERS);
}
