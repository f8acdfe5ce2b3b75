import type { AuthRule, TenantPath } from '../model.ts';
import type { Tenancy } from '../manifest/section.ts';
import type { AuthUse } from '../directives/of-both.ts';
import type { EntityFact, Facts } from './facts.ts';
import { tenantEntity } from './memberships.ts';
import { namedColumn } from './named-columns.ts';
import type { Shapes } from './shapes.ts';
import { userEntity } from './user.ts';

/**
 * The way from a row to its organization: the path that the rule names, the row itself if it is an
 * organization, its memberships if it is a user, or the entity's only key of an organization.
 *
 * @example
 * tenantPath(shapes, { allow: ['TENANT'], tenant: 'project.company', … }, task) // { through: [{ column: 'project_id', entity: 'Project' }], column: 'company_id' }
 */
export function tenantPath(
  shapes: Shapes,
  use: Pick<AuthUse, 'tenant'>,
  entity: EntityFact,
): TenantPath | undefined {
  const tenant = tenantEntity(shapes.facts);
  if (!tenant) return undefined;
  if (use.tenant !== undefined) return namedPath(shapes, use.tenant.split('.'), entity, tenant);
  const members = shapes.facts.signIn?.tenancy?.members;
  if (entity === tenant && members) return { through: [], column: 'id', memberships: members };
  const keys = tenantKeys(shapes, entity);
  if (entity === userEntity(shapes.facts) && members) return { through: [], column: 'id', members };
  return keys.length === 1 && keys[0] ? { through: [], column: keys[0].column } : undefined;
}

/** The keys of an entity that refer to an organization. */
export function tenantKeys({ links, facts }: Shapes, { name }: EntityFact) {
  const tenant = tenantEntity(facts)?.name;
  return (links.keys.get(name) ?? []).filter(
    ({ target, typeColumn }) => target === tenant && !typeColumn,
  );
}

function namedPath(
  shapes: Shapes,
  [first = '', ...rest]: readonly string[],
  entity: EntityFact,
  tenant: EntityFact,
): TenantPath | undefined {
  const named = namedColumn(shapes, entity, first);
  const key = shapes.links.keys.get(entity.name)?.find(({ column }) => column === named?.column);
  if (!key || key.typeColumn) return undefined;
  if (rest.length === 0)
    return key.target === tenant.name ? { through: [], column: key.column } : undefined;
  const next = shapes.facts.entities.get(key.target);
  const path = next && namedPath(shapes, rest, next, tenant);
  return (
    path && { ...path, through: [{ column: key.column, entity: key.target }, ...path.through] }
  );
}

/**
 * The default rules of an organization, for the verbs that its own `@auth` does not name: members
 * read it, those who manage it change it, and the first role deletes it.
 */
export function tenantRules(facts: Facts, entity: EntityFact): AuthRule[] {
  const tenancy = facts.signIn?.tenancy;
  if (!tenancy || tenantEntity(facts) !== entity) return [];
  const named = new Set(entity.directives.auth.flatMap(({ on }) => on));
  return defaults(tenancy, facts.signIn?.first).flatMap((rule) => {
    const on = rule.on.filter((verb) => !named.has(verb));
    return on.length > 0 ? [{ ...rule, on }] : [];
  });
}

function defaults(
  { roles, manage, create, members }: Tenancy,
  first: string | undefined,
): AuthRule[] {
  const tenant = { through: [], column: 'id', memberships: members };
  const member = (names: readonly string[]) =>
    ({ allow: ['TENANT'], roles: names, tenant }) as const;
  return [
    { ...member([]), on: ['READ'], implied: true },
    { ...member(manage), on: ['UPDATE'], implied: true },
    { ...member(roles.slice(0, 1)), on: ['DELETE'], implied: true },
    create === 'user'
      ? { allow: ['USER'], roles: [], on: ['CREATE'], implied: true }
      : {
          allow: first ? ['ROLE'] : [],
          roles: first ? [first] : [],
          on: ['CREATE'],
          implied: true,
        },
  ];
}

/** The default rules by which users see their fellow members, and no other users. */
export function fellowRules(facts: Facts, rules: readonly AuthRule[]): AuthRule[] {
  const members = facts.signIn?.tenancy?.members;
  if (!members || !tenantEntity(facts)) return [...rules];
  return rules.flatMap((rule): AuthRule[] =>
    rule.implied && rule.allow[0] === 'USER'
      ? [
          { ...rule, allow: ['OWNER'], owner: 'id' },
          { ...rule, allow: ['TENANT'], tenant: { through: [], column: 'id', members } },
        ]
      : [rule],
  );
}
