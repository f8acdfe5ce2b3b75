import { tenantEntity } from '../../build/memberships.ts';
import { userEntity } from '../../build/user.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { finding, type Rule } from '../../rules/finding.ts';

/**
 * AUTH_TENANT_UNKNOWN, AUTH_ROLE_UNKNOWN: `auth.organizations` must name a type and its own roles.
 */
export const organizations: Rule = function* ({ facts }) {
  const { auth } = facts.manifest.values;
  const given = auth?.organizations;
  if (!given) return;
  const entity = tenantEntity(facts);
  if (!entity || entity === userEntity(facts)) {
    const others = [...facts.entities.keys()].filter((name) => name !== userEntity(facts)?.name);
    yield finding('AUTH_TENANT_UNKNOWN', facts.manifest.at(['auth', 'organizations', 'type']), {
      summary: entity
        ? `${given.type} is the user, and an organization has users`
        : `There is no type ${given.type} that is kept in a table`,
      fix:
        didYouMean(given.type, others) ??
        `type ${entity ? 'Company' : given.type} { id: ID! name: String! }`,
    });
  }
  for (const [index, role] of (given.manage ?? []).entries())
    if (!given.roles.includes(role))
      yield finding(
        'AUTH_ROLE_UNKNOWN',
        facts.manifest.at(['auth', 'organizations', 'manage', index]),
        {
          summary: `auth.organizations.manage names ${role}, which is no role of an organization`,
          fix: didYouMean(role, given.roles) ?? `known: ${given.roles.join(', ')}`,
        },
      );
};
