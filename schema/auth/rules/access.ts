import type { AuthUse } from '../../directives/of-both.ts';
import type { Built } from '../../build/built.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { AuthValues } from '../manifest.ts';
import { checkCondition } from './conditions.ts';
import { checkOwner } from './owner.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, type Rule } from '../../rules/finding.ts';

/**
 * AUTH_OFF, AUTH_RULE_EMPTY, AUTH_ROLE_UNKNOWN, AUTH_OWNER_UNKNOWN, AUTH_OWNER_NOT_USER,
 * AUTH_CONDITION, AUTH_CLAIM_UNKNOWN: every `@auth` must be a rule that some caller can meet.
 */
export const access: Rule = function* (built) {
  for (const entity of built.facts.entities.values()) {
    for (const use of entity.directives.auth) yield* checkUse(built, use, entity.name);
    for (const field of entity.fields.values())
      for (const use of field.directives.auth) yield* checkUse(built, use, entity.name);
  }
  for (const { field, operation } of built.operations) {
    const entity = 'entity' in operation.action ? operation.action.entity : undefined;
    for (const use of field.directives.auth) yield* checkUse(built, use, entity);
  }
};

function* checkUse(built: Built, use: AuthUse, entity: string | undefined): Generator<Finding> {
  const { auth } = built.facts.manifest.values;
  const people = use.allow.filter((word) => word === 'USER' || word === 'OWNER' || word === 'ROLE');
  if (use.allow.length === 0 || use.on.length === 0)
    yield finding('AUTH_RULE_EMPTY', 'This rule gives access to no caller', use.node, {
      fix: auth ? '@auth(allow: [USER])' : '@auth(allow: [PUBLIC])',
    });
  if (people.length > 0 && !auth) {
    yield finding(
      'AUTH_OFF',
      `No caller can be ${people.join(' or ')}: signing in is off`,
      use.node,
      {
        why: 'the manifest has no auth section',
        fix: 'in manifest.yaml: auth: {}',
      },
    );
    return;
  }
  yield* checkRoles(use, auth);
  yield* checkCondition(built, use, entity);
  if (use.allow.includes('OWNER')) yield* checkOwner(built, use, entity);
  else if (use.owner !== undefined)
    yield finding('AUTH_OWNER_UNKNOWN', 'owner is named and OWNER is not allowed', use.node, {
      fix: '@auth(allow: [OWNER], owner: …)',
    });
}

function* checkRoles(use: AuthUse, auth: AuthValues | undefined): Generator<Finding> {
  const known = auth?.roles?.list;
  // Roles in an organization are checked with the rest of TENANT.
  if (use.allow.includes('TENANT')) return;
  if (!use.allow.includes('ROLE')) {
    if (use.roles.length > 0)
      yield finding('AUTH_ROLE_UNKNOWN', 'Roles are named and ROLE is not allowed', use.node, {
        fix: `@auth(allow: [ROLE], roles: ${JSON.stringify(use.roles)})`,
      });
    return;
  }
  if (use.roles.length === 0)
    yield finding('AUTH_ROLE_UNKNOWN', 'ROLE is allowed and no role is named', use.node, {
      fix: `@auth(allow: [ROLE], roles: ["${known?.[0] ?? 'Administrator'}"])`,
    });
  for (const role of use.roles) {
    if (known?.includes(role)) continue;
    const fix = known
      ? (didYouMean(role, known) ?? `known: ${known.join(', ')}`)
      : `in manifest.yaml: auth: { roles: { list: [${role}, Member], default: Member } }`;
    yield finding('AUTH_ROLE_UNKNOWN', `There is no role ${role}`, use.node, {
      why: known ? undefined : 'the manifest has no auth.roles',
      fix,
    });
  }
}
