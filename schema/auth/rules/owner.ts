import { ownerOf } from '../../build/access.ts';
import type { Built } from '../../build/built.ts';
import type { EntityFact } from '../../build/facts.ts';
import { OWNER_STEPS } from '../../build/owner-path.ts';
import { userEntity } from '../../build/user.ts';
import { didYouMean, nearest } from '../../did-you-mean.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import type { Finding } from '../../parse/places.ts';
import { finding } from '../../rules/finding.ts';

/** AUTH_OWNER_UNKNOWN, AUTH_OWNER_NOT_USER: OWNER leads from the row to a user. */
export function* checkOwner(
  built: Built,
  use: AuthUse,
  entity: string | undefined,
): Generator<Finding> {
  const fact = entity === undefined ? undefined : built.facts.entities.get(entity);
  if (!fact)
    return yield finding(
      'AUTH_OWNER_UNKNOWN',
      'OWNER is about rows, and this field is yours to write',
      use.node,
      { fix: '@auth(allow: [USER]), and ask ctx.user in your function' },
    );
  const owner = ownerOf(built.shapes, use, fact);
  switch (owner.kind) {
    case 'unclear':
      return yield unclear(built, use, fact);
    case 'unknown':
      return yield unknownStep(built, use, owner);
    case 'not-user':
      return yield notUser(built, use, owner.entity);
    case 'too-long':
      return yield finding(
        'AUTH_OWNER_UNKNOWN',
        `The path ${use.owner} has more than ${OWNER_STEPS} steps`,
        use.node,
        { fix: `a path of at most ${OWNER_STEPS} steps, or a relation that shortens it` },
      );
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
  return finding('AUTH_OWNER_UNKNOWN', `Nothing says who owns a ${entity.name}`, use.node, {
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
    return finding(
      'AUTH_OWNER_UNKNOWN',
      `${entity.name} has no field ${step} that holds a user`,
      use.node,
      { fix: ownerFix(built, nearest(step, keys) ?? keys[0]) },
    );
  const known = [...entity.fields.values()]
    .filter((field) => built.links.byField.has(field))
    .map(({ name }) => name);
  return finding(
    'AUTH_OWNER_UNKNOWN',
    `In the path ${use.owner}, ${entity.name} has no relation ${step}`,
    use.node,
    { fix: didYouMean(step, known) ?? `one of ${known.join(', ') || 'a relation of your own'}` },
  );
}

function notUser(built: Built, use: AuthUse, { name, ...entity }: EntityFact): Finding {
  const user = userEntity(built.facts)?.name ?? 'User';
  const [next] = userFields(built, { name, ...entity });
  return finding(
    'AUTH_OWNER_NOT_USER',
    `The path ${use.owner} ends at ${name}, which is no user`,
    use.node,
    {
      why: `an owner is a ${user}`,
      fix: next
        ? `@auth(allow: [OWNER], owner: "${use.owner}.${next}")`
        : `a path that ends at a field of type ${user}`,
    },
  );
}
