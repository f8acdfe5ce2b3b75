import { isObjectType } from 'graphql';
import type { Operation, ChangeKind } from '../model.ts';
import { authRules } from './access.ts';
import { fieldFacts, isQueryRoot, QUERY_ROOT, type FieldFact } from './facts.ts';
import { inferMutation, type MutationVerb } from './infer-mutation.ts';
import { inferQuery, type Inferred } from './infer-query.ts';
import { pagedArguments } from './list-options.ts';
import { attempt, Refusal, type Shapes } from './shapes.ts';
import { isKeyScalar } from './keys.ts';

/** A root field with its action, and the reason if it could not be inferred. */
export interface OperationFact {
  readonly field: FieldFact;
  readonly operation: Operation;
  readonly refusal?: Refusal;
}

/**
 * Every field of Query, Mutation and Subscription, in the schema's order.
 *
 * @example
 * inferOperations(shapes)[0].operation.action // { kind: 'list', entity: 'User', … }
 */
export function inferOperations(shapes: Shapes): OperationFact[] {
  const { schema, types } = shapes.facts;
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([root, type]) =>
    isObjectType(type)
      ? [...fieldFacts(type, types).values()].map((field) => operationFact(shapes, root, field))
      : [],
  );
}

function operationFact(shapes: Shapes, root: Operation['root'], field: FieldFact): OperationFact {
  const inferred = isQueryRoot(shapes.facts, field)
    ? ROOT_AGAIN
    : attempt(() => infer(shapes, root, field));
  const refusal = inferred instanceof Refusal && { refusal: inferred };
  const { action, decidedBy } = inferred instanceof Refusal || !inferred ? stub(field) : inferred;
  const { description } = field.field;
  const operation: Operation = {
    root,
    name: field.name,
    args: pagedArguments(field, 'list' in action ? action.list : undefined),
    type: field.type,
    ...(description && { description }),
    action,
    rules: authRules(shapes, field.directives.auth, actionEntity(action)),
    decidedBy,
  };
  return { field, operation, ...refusal };
}

/** The server answers the field with the query root, so fields below it work as at the root. */
const ROOT_AGAIN: Inferred = { action: { kind: 'custom' }, decidedBy: QUERY_ROOT };

function actionEntity(action: Operation['action']): string | undefined {
  return 'entity' in action ? action.entity : undefined;
}

function stub(field: FieldFact): Inferred {
  return {
    action: { kind: 'custom' },
    decidedBy: field.directives.resolve
      ? '@resolve'
      : field.directives.computed
        ? '@computed'
        : 'stub',
  };
}

/**
 * `@resolve` takes precedence over the signature, but its action has to be possible. Undefined: the
 * field resembles no known operation, and the user writes it.
 */
function infer(shapes: Shapes, root: Operation['root'], field: FieldFact): Inferred | undefined {
  const forced = field.directives.resolve?.as;
  if (forced === 'CUSTOM' || field.directives.computed) return undefined;
  const inferred = byRoot(shapes, root, field, forced);
  return forced && inferred ? { ...inferred, decidedBy: '@resolve' } : inferred;
}

function byRoot(
  shapes: Shapes,
  root: Operation['root'],
  field: FieldFact,
  forced: string | undefined,
): Inferred | undefined {
  const reads = forced === 'GET' || forced === 'LIST';
  if (forced && reads !== (root === 'query')) throw new Refusal(`a ${root} cannot be ${forced}`);
  if (root === 'subscription') return inferSubscription(shapes, field);
  if (root === 'query') return inferQuery(shapes, field, reads ? forced : undefined);
  return inferMutation(shapes, field, forced as MutationVerb | undefined);
}

const CHANGES: Readonly<Record<string, readonly ChangeKind[]>> = {
  Created: ['created'],
  Added: ['created'],
  Updated: ['updated'],
  Deleted: ['deleted'],
  Removed: ['deleted'],
  Changed: ['created', 'updated', 'deleted'],
};

/**
 * The events that feed a field of Subscription: `userCreated`, `onUserUpdated`, `userChanged(id)`.
 *
 * @example
 * inferSubscription(shapes, field) // { action: { kind: 'subscribe', entity: 'User', on: ['created'] }, decidedBy: 'subscription' }
 */
function inferSubscription({ facts }: Shapes, field: FieldFact): Inferred | undefined {
  const entity = facts.entities.get(field.named.name);
  if (!entity || field.type.list) return undefined;
  const [, stem = '', word = ''] =
    /^(?:on)?(.+?)(Created|Added|Updated|Deleted|Removed|Changed)$/.exec(field.name) ?? [];
  const on = CHANGES[word];
  if (!on || stem.toLowerCase() !== entity.name.toLowerCase())
    throw new Refusal(
      `the name does not say which changes of ${entity.name} it tells of: ` +
        `${entity.singular}Created, ${entity.singular}Updated, ` +
        `${entity.singular}Deleted or ${entity.singular}Changed`,
    );
  const [id, other] = field.args;
  if (other || (id && (id.name !== 'id' || !isKeyScalar(id.type.name, facts) || id.type.list)))
    throw new Refusal('the only argument that it can have is id: ID');
  return {
    action: { kind: 'subscribe', entity: entity.name, on, ...(id && { id: id.name }) },
    decidedBy: 'subscription',
  };
}
