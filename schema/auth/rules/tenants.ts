import { tenantEntity } from '../../build/memberships.ts';
import { tenantKeys, tenantPath } from '../../build/tenant.ts';
import type { Built } from '../../build/built.ts';
import type { EntityFact } from '../../build/facts.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, listed, quoted, type Rule } from '../../rules/finding.ts';

/**
 * AUTH_TENANT_OFF, AUTH_TENANT_UNKNOWN, AUTH_RULE_AMBIGUOUS: every TENANT must lead from the row to one organization.
 */
export const tenants: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    for (const use of entity.directives.auth) yield* checkUse(built, use, entity);
    for (const field of entity.fields.values())
      for (const use of field.directives.auth) yield* checkUse(built, use, entity);
  }
  for (const { field, operation } of built.operations) {
    const name = 'entity' in operation.action ? operation.action.entity : '';
    for (const use of field.directives.auth)
      yield* checkUse(built, use, built.facts.entities.get(name));
  }
};

function* checkUse(built: Built, use: AuthUse, entity: EntityFact | undefined): Generator<Finding> {
  if (!use.allow.includes('TENANT')) {
    if (use.tenant !== undefined)
      yield finding('AUTH_TENANT_UNKNOWN', use.node, {
        summary: 'tenant is named and TENANT is not allowed',
        fix: '@auth(allow: [TENANT], tenant: …)',
      });
    return;
  }
  const { auth } = built.facts.manifest.values;
  if (!auth?.organizations)
    return yield finding('AUTH_TENANT_OFF', use.node, {
      summary: 'There are no organizations for TENANT',
      why: 'the manifest has no auth.organizations',
      fix: `in manifest.yaml: auth: { organizations: { type: ${likelyTenant(built)} } }`,
    });
  yield* checkRoles(use, auth.organizations.roles);
  if (!tenantEntity(built.facts)) return;
  if (!entity)
    yield finding('AUTH_TENANT_UNKNOWN', use.node, {
      summary: 'TENANT is about rows, and this field is answered by a function of yours',
      fix: "@auth(allow: [USER]), and read ctx.values.get('organization') in your function",
    });
  else if (!tenantPath(built.shapes, use, entity)) yield unknown(built, use, entity);
}

const likelyTenant = ({ facts }: Built) =>
  ['Company', 'Organization', 'Organisation', 'Team', 'Tenant', 'Workspace'].find((name) =>
    facts.entities.has(name),
  ) ?? 'Company';

function* checkRoles(use: AuthUse, known: readonly string[]): Generator<Finding> {
  if (use.roles.length === 0) return;
  if (use.allow.includes('ROLE'))
    return yield finding('AUTH_RULE_AMBIGUOUS', use.node, {
      summary: 'ROLE and TENANT share roles',
      why: 'ROLE means roles of the whole server, TENANT means roles in an organization',
      fix: `@auth(allow: [ROLE], roles: …) @auth(allow: [TENANT], roles: …)`,
    });
  for (const role of use.roles)
    if (!known.includes(role))
      yield finding('AUTH_ROLE_UNKNOWN', use.node, {
        summary: `No organization has a role ${role}`,
        fix: didYouMean(role, known) ?? `known: ${known.join(', ')}`,
      });
}

function unknown(built: Built, use: AuthUse, entity: EntityFact): Finding {
  const tenant = tenantEntity(built.facts)?.name ?? '';
  const fields = tenantKeys(built.shapes, entity).flatMap(({ field }) => field?.name ?? []);
  const summary =
    use.tenant === undefined
      ? fields.length > 1
        ? `${entity.name} has several fields of type ${tenant}`
        : `${entity.name} has no field of type ${tenant}`
      : `${entity.name}.${use.tenant} does not lead to a ${tenant}`;
  const field = fields[0] ?? pathTo(built, entity, tenant);
  return finding('AUTH_TENANT_UNKNOWN', use.node, {
    summary,
    why: fields.length > 1 ? `it could be ${listed(fields, 'or')}` : undefined,
    fix: field
      ? `@auth(allow: [TENANT], tenant: ${quoted(field)})`
      : `add a field to ${entity.name}: company: ${tenant}!`,
  });
}

/** A path over one more row: `project.company`. */
function pathTo(built: Built, { name }: EntityFact, tenant: string): string | undefined {
  for (const { field, target } of built.links.keys.get(name) ?? []) {
    const next = built.facts.entities.get(target);
    const last = next && tenantKeys(built.shapes, next)[0]?.field;
    if (field && last && target !== tenant) return `${field.name}.${last.name}`;
  }
  return undefined;
}
