import { isObjectType } from 'graphql';
import type { Operation } from '../model.ts';
import { authRules } from './access.ts';
import { fieldFacts, isQueryRoot, QUERY_ROOT, type FieldFact } from './facts.ts';
import { inferMutation, type MutationVerb } from './infer-mutation.ts';
import { inferQuery, type Inference, type Inferred } from './infer-query.ts';
import { inferSubscription } from './infer-subscription.ts';
import { pagedArguments } from './list-options.ts';
import { isRefusal, type Refusal, type Shapes } from './shapes.ts';

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
  const inference = isQueryRoot(shapes.facts, field) ? ROOT_AGAIN : infer(shapes, root, field);
  const refusal = inference && isRefusal(inference) ? inference : undefined;
  const { action, decidedBy } = inference && !isRefusal(inference) ? inference : stub(field);
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
  return { field, operation, ...(refusal && { refusal }) };
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

/** `@resolve` takes precedence over the signature, but its action has to be possible. */
function infer(shapes: Shapes, root: Operation['root'], field: FieldFact): Inference {
  const forced = field.directives.resolve?.as;
  if (forced === 'CUSTOM' || field.directives.computed) return undefined;
  const inference = byRoot(shapes, root, field, forced);
  return forced && inference && !isRefusal(inference)
    ? { ...inference, decidedBy: '@resolve' }
    : inference;
}

function byRoot(
  shapes: Shapes,
  root: Operation['root'],
  field: FieldFact,
  forced: string | undefined,
): Inference {
  const reads = forced === 'GET' || forced === 'LIST';
  if (forced && reads !== (root === 'query')) return { why: `a ${root} cannot be ${forced}` };
  if (root === 'subscription') return inferSubscription(shapes, field);
  if (root === 'query') return inferQuery(shapes, field, reads ? forced : undefined);
  return inferMutation(shapes, field, forced as MutationVerb | undefined);
}
