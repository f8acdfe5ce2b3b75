import type { AuthUse } from '../../directives/of-both.ts';
import type { Built } from '../../build/built.ts';
import { didYouMean, nearest } from '../../did-you-mean.ts';
import type { AuthValues } from '../manifest.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, type Rule } from '../../rules/finding.ts';
import { readCondition } from '../../build/conditions.ts';
import { ownerOf } from '../../build/access.ts';
import type { EntityFact } from '../../build/facts.ts';
import { OWNER_STEPS } from '../../build/owner-path.ts';
import { userEntity } from '../../build/user.ts';

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
    yield finding('AUTH_RULE_EMPTY', use.node, {
      summary: 'This rule gives access to no caller',
      fix: auth ? '@auth(allow: [USER])' : '@auth(allow: [PUBLIC])',
    });
  if (people.length > 0 && !auth) {
    yield finding('AUTH_OFF', use.node, {
      summary: `No caller can be ${people.join(' or ')}: signing in is off`,
      why: 'the manifest has no auth section',
      fix: 'in manifest.yaml: auth: {}',
    });
    return;
  }
  yield* checkRoles(use, auth);
  yield* checkCondition(built, use, entity);
  if (use.allow.includes('OWNER')) yield* checkOwner(built, use, entity);
  else if (use.owner !== undefined)
    yield finding('AUTH_OWNER_UNKNOWN', use.node, {
      summary: 'owner is named and OWNER is not allowed',
      fix: '@auth(allow: [OWNER], owner: …)',
    });
}

function* checkRoles(use: AuthUse, auth: AuthValues | undefined): Generator<Finding> {
  const known = auth?.roles?.list;
  // Roles in an organization are checked with the rest of TENANT.
  if (use.allow.includes('TENANT')) return;
  if (!use.allow.includes('ROLE')) {
    if (use.roles.length > 0)
      yield finding('AUTH_ROLE_UNKNOWN', use.node, {
        summary: 'Roles are named and ROLE is not allowed',
        fix: `@auth(allow: [ROLE], roles: ${JSON.stringify(use.roles)})`,
      });
    return;
  }
  if (use.roles.length === 0)
    yield finding('AUTH_ROLE_UNKNOWN', use.node, {
      summary: 'ROLE is allowed and no role is named',
      fix: `@auth(allow: [ROLE], roles: ["${known?.[0] ?? 'Administrator'}"])`,
    });
  for (const role of use.roles) {
    if (known?.includes(role)) continue;
    const fix = known
      ? (didYouMean(role, known) ?? `known: ${known.join(', ')}`)
      : `in manifest.yaml: auth: { roles: { list: [${role}, Member], default: Member } }`;
    yield finding('AUTH_ROLE_UNKNOWN', use.node, {
      summary: `There is no role ${role}`,
      why: known ? undefined : 'the manifest has no auth.roles',
      fix,
    });
  }
}

/** AUTH_CONDITION, AUTH_CLAIM_UNKNOWN: the operators and values of a `where` must be valid. */
function* checkCondition(
  { facts, shapes }: Built,
  use: AuthUse,
  entity: string | undefined,
): Generator<Finding> {
  if (!use.where) return;
  const fact = entity === undefined ? undefined : facts.entities.get(entity);
  if (!fact)
    return yield finding('AUTH_CONDITION', use.where, {
      summary: 'where is about rows, and this field is yours to write',
      fix: '@auth(allow: [USER]), and a condition in your function',
    });
  for (const { code, at, summary, why, fix } of readCondition(shapes, fact, use.where).problems)
    yield finding(code, at, { summary, why, fix });
}

/** AUTH_OWNER_UNKNOWN, AUTH_OWNER_NOT_USER: OWNER leads from the row to a user. */
function* checkOwner(built: Built, use: AuthUse, entity: string | undefined): Generator<Finding> {
  const fact = entity === undefined ? undefined : built.facts.entities.get(entity);
  if (!fact)
    return yield finding('AUTH_OWNER_UNKNOWN', use.node, {
      summary: 'OWNER is about rows, and this field is yours to write',
      fix: '@auth(allow: [USER]), and ask ctx.user in your function',
    });
  const owner = ownerOf(built.shapes, use, fact);
  switch (owner.kind) {
    case 'unclear':
      return yield unclear(built, use, fact);
    case 'unknown':
      return yield unknownStep(built, use, owner);
    case 'not-user':
      return yield notUser(built, use, owner.entity);
    case 'too-long':
      return yield finding('AUTH_OWNER_UNKNOWN', use.node, {
        summary: `The path ${use.owner} has more than ${OWNER_STEPS} steps`,
        fix: `a path of at most ${OWNER_STEPS} steps, or a relation that shortens it`,
      });
    default:
      return undefined;
  }
}

/** The fields of an entity that hold the key of a user. */
const userFields = ({ links, facts }: Built, { name }: EntityFact) =>
  (links.keys.get(name) ?? [])
    .filter((key) => key.target === userEntity(facts)?.name)
    .flatMap((key) => key.field?.name ?? []);

function unclear(built: Built, use: AuthUse, entity: EntityFact): Finding {
  const keys = userFields(built, entity);
  return finding('AUTH_OWNER_UNKNOWN', use.node, {
    summary: `Nothing says who owns a ${entity.name}`,
    why: keys.length > 1 ? `it could be ${keys.join(' or ')}` : undefined,
    fix: ownerFix(built, keys[0]),
  });
}

/** The rule with a field that is there, or the field that is missing. */
const ownerFix = (built: Built, field: string | undefined): string =>
  field === undefined
    ? `add a field of the type ${userEntity(built.facts)?.name ?? 'User'}, and name it by owner`
    : `@auth(allow: [OWNER], owner: "${field}")`;

function unknownStep(
  built: Built,
  use: AuthUse,
  { step, entity }: { readonly step: string; readonly entity: EntityFact },
): Finding {
  const keys = userFields(built, entity);
  if (use.owner === step)
    return finding('AUTH_OWNER_UNKNOWN', use.node, {
      summary: `${entity.name} has no field ${step} that holds a user`,
      fix: ownerFix(built, nearest(step, keys) ?? keys[0]),
    });
  const known = [...entity.fields.values()]
    .filter((field) => built.links.byField.has(field))
    .map(({ name }) => name);
  return finding('AUTH_OWNER_UNKNOWN', use.node, {
    summary: `In the path ${use.owner}, ${entity.name} has no relation ${step}`,
    fix: didYouMean(step, known) ?? `one of ${known.join(', ') || 'a relation of your own'}`,
  });
}

function notUser(built: Built, use: AuthUse, { name, ...entity }: EntityFact): Finding {
  const user = userEntity(built.facts)?.name ?? 'User';
  const [next] = userFields(built, { name, ...entity });
  return finding('AUTH_OWNER_NOT_USER', use.node, {
    summary: `The path ${use.owner} ends at ${name}, which is no user`,
    why: `an owner is a ${user}`,
    fix: next
      ? `@auth(allow: [OWNER], owner: "${use.owner}.${next}")`
      : `a path that ends at a field of type ${user}`,
  });
}
