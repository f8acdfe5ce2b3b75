import type { Operation, Returns } from '@twofold/schema';
import type { FieldNode } from 'graphql';
import { rootAccess, type Refusal } from '../../data/access/access.ts';
import { ROOT_NAMES, type Model } from '../../data/model.ts';
import { readsTableAgain, rulesReadTableAgain } from '../../data/select/insert.ts';
import type { Get, Root } from '../../data/plan.ts';
import type { ErrorCases } from '../error-members.ts';
import { collectFields } from './collect.ts';
import { ownKey, plainMembers, type PlainMember } from './own-parent.ts';
import { planByKey, planRead } from './planner.ts';
import { fieldNameOf, type Plan, type Planning } from './planning.ts';

/** The plan of an operation: one entry for each root field, in the order of the answer. */
export interface OperationPlan {
  readonly roots: readonly RootPlan[];
  /** Whether the answer can be assembled from texts, without the executor. */
  readonly pure: boolean;
}

export type RootPlan = Head &
  (
    | { readonly kind: 'typename'; readonly value: string }
    | {
        readonly kind: 'read';
        readonly required: boolean;
        readonly plan: Plan<Root>;
        readonly caller?: OfCaller;
      }
    | ({ readonly kind: 'write'; readonly operation: Operation } & WritePlan)
    /** An event of a subscription: its row by key. */
    | { readonly kind: 'event'; readonly operation: Operation; readonly plan: Plan<Root> }
    | { readonly kind: 'refused'; readonly code: Refusal; readonly caller?: OfCaller }
    /** A field of user code or introspection, which the executor runs. */
    | { readonly kind: 'function' }
  );

/** The field answers with the caller's row: null without a sign-in, unless it is required. */
interface OfCaller {
  readonly required: boolean;
}

/** `lead`: the text of the answer before the value. */
interface Head {
  readonly key: string;
  readonly node: FieldNode;
  readonly lead: string;
}

/** The answer of a mutation, read after its write. */
export interface WritePlan {
  /** Fields of the payload. A single part without a key is the answer itself. */
  readonly parts: readonly WritePart[];
  readonly type: string;
  readonly pure: boolean;
  /**
   * For a create: what the answer shows of the new row, when the inserting statement can return it.
   */
  readonly returning?: Plan<Get>;
  /** The errors that members of the result take. */
  readonly cases?: ErrorCases;
}

export type WritePart =
  /** The row; the rows of a mutation of many. */
  | {
      readonly kind: 'entity' | 'rows';
      readonly key: string;
      readonly plan: Plan<Root> | { readonly kind: 'none'; readonly code: Refusal };
    }
  | PlainMember
  | { readonly kind: 'typename'; readonly key: string; readonly value: string };

/** @example planOperation(planning, operation.node.operation, operation.node).roots[0].kind // 'read' */
export function planOperation(
  planning: Planning,
  kind: 'query' | 'mutation' | 'subscription',
  rootType: string,
  node: Parameters<typeof collectFields>[2][number],
): OperationPlan {
  return planRoots(planning, kind, rootType, [node]);
}

/** Plans root fields: of an operation, or below a field that leads back to the query root. */
export function planRoots(
  planning: Planning,
  kind: 'query' | 'mutation' | 'subscription',
  rootType: string,
  asking: Parameters<typeof collectFields>[2],
): OperationPlan {
  const selected = [...collectFields(planning.selecting, rootType, asking)];
  const roots = selected.map(([key, nodes], index) =>
    planRoot(
      planning,
      kind,
      { key, node: nodes[0] as FieldNode, lead: `${index > 0 ? ',' : ''}${JSON.stringify(key)}:` },
      nodes,
    ),
  );
  return { roots, pure: roots.every(isPure) };
}

function isPure(root: RootPlan): boolean {
  if (root.kind === 'read') return root.plan.pure;
  return root.kind === 'write' ? root.pure : root.kind === 'typename';
}

function planRoot(
  planning: Planning,
  kind: 'query' | 'mutation' | 'subscription',
  head: Head,
  nodes: readonly FieldNode[],
): RootPlan {
  const name = head.node.name.value;
  const type = planning.selecting.schema.getRootType(kind as never)?.name ?? ROOT_NAMES[kind];
  if (name === '__typename') return { ...head, kind: 'typename', value: type };
  const operation = planning.model.operations.get(`${ROOT_NAMES[kind]}.${name}`);
  if (!operation || planning.isCustom(type, name)) return { ...head, kind: 'function' };
  const { action } = operation;
  switch (action.kind) {
    case 'custom':
    case 'subscribe': {
      const entity = entityOfEvents(planning.model, operation);
      return entity === undefined
        ? { ...head, kind: 'function' }
        : planEvent(planning, operation, entity, head, nodes);
    }
    case 'create':
    case 'update':
    case 'remove':
    case 'upsert':
    case 'createMany':
    case 'updateMany':
    case 'removeMany':
      return {
        ...head,
        kind: 'write',
        operation,
        ...withReturning(planning, action.kind, planWrite(planning, operation, action, nodes)),
        ...planning.casesOf?.(operation),
      };
    default: {
      const { required } = operation.type;
      const plan = planRead(planning, operation, nodes);
      const caller = action.kind === 'caller' && { caller: { required } };
      if ('code' in plan)
        return {
          ...head,
          kind: 'refused',
          code: plan.code,
          ...(operation.rules.length === 0 && caller),
        };
      return { ...head, kind: 'read', required, plan, ...caller };
    }
  }
}

/** The entity whose rows the events of a field of Subscription show. */
export function entityOfEvents(
  { entities }: Pick<Model, 'entities'>,
  { root, action, type }: Operation,
): string | undefined {
  if (action.kind === 'subscribe') return action.entity;
  const isRow = root === 'subscription' && !type.list && entities.has(type.name);
  return isRow && action.kind === 'custom' ? type.name : undefined;
}

function planEvent(
  planning: Planning,
  operation: Operation,
  entity: string,
  head: Head,
  nodes: readonly FieldNode[],
): RootPlan {
  const access = rootAccess(
    planning.model,
    planning.rules,
    planning.rules.operation(operation, 'READ'),
    entity,
    'READ',
  );
  if (access.kind === 'none') return { ...head, kind: 'refused', code: access.code };
  const plan = planByKey(planning, entity, nodes);
  return 'code' in plan
    ? { ...head, kind: 'refused', code: plan.code }
    : { ...head, kind: 'event', operation, plan };
}

/** The type of the answer. For a result union, it is the member for the written row. */
function answeredType({ type }: Operation, entity: string, returns: Returns): string {
  if (returns.kind === 'payload') return returns.type;
  return returns.kind === 'entity' ? entity : type.name;
}

const PAYLOAD_MEMBERS = ['entity', 'rows', 'count', 'id', 'ok', 'clientMutationId'] as const;

function planWrite(
  planning: Planning,
  operation: Operation,
  { entity, returns }: Extract<Operation['action'], { returns: Returns }>,
  nodes: readonly FieldNode[],
): WritePlan {
  const type = answeredType(operation, entity, returns);
  const rows = (
    kind: 'entity' | 'rows',
    key: string,
    selected: readonly FieldNode[],
    whole = false,
  ): WritePart => ({
    kind,
    key,
    plan: planByKey(planning, entity, selected, { many: kind === 'rows', whole }),
  });
  if (returns.kind === 'entity' || returns.kind === 'rows')
    return finish([rows(returns.kind, '', nodes)], type);
  if (returns.kind !== 'payload')
    return finish([{ kind: returns.kind === 'boolean' ? 'ok' : returns.kind, key: '' }], type);
  const parts: WritePart[] = [];
  let complete = true;
  let own = false;
  for (const [key, selected] of collectFields(planning.selecting, returns.type, nodes)) {
    const name = fieldNameOf(selected);
    const kind = PAYLOAD_MEMBERS.find((each) => returns[each] === name);
    if (name === '__typename') parts.push({ kind: 'typename', key, value: returns.type });
    else if (planning.isCustom(returns.type, name)) own = true;
    else if (kind === 'entity' || kind === 'rows') parts.push(rows(kind, key, selected));
    else if (kind) parts.push({ kind, key });
    else if (returns.empty?.includes(name)) parts.push({ kind: 'empty', key });
    else complete = false;
  }
  if (own) {
    for (const kind of ['entity', 'rows'] as const)
      if (returns[kind] !== undefined) parts.push(rows(kind, ownKey(returns[kind]), nodes, true));
    parts.push(...plainMembers(returns));
  }
  const plan = finish(parts, type);
  return { ...plan, pure: plan.pure && complete && !own };
}

/**
 * Plans the answer into the inserting statement, when one part reads and the insert does not change
 * what it reads.
 */
function withReturning(planning: Planning, kind: string, write: WritePlan): WritePlan {
  const reading = write.parts.flatMap((part) =>
    part.kind === 'entity' && 'node' in part.plan ? [part.plan] : [],
  );
  const [plan] = reading;
  const node = plan?.node;
  if (
    kind !== 'create' ||
    reading.length !== 1 ||
    node?.kind !== 'get' ||
    readsTableAgain(node.selection) ||
    rulesReadTableAgain(planning, node.selection)
  )
    return write;
  return { ...write, returning: plan as Plan<Get> };
}

function finish(parts: readonly WritePart[], type: string): WritePlan {
  const pure = parts.every(
    (part) =>
      (part.kind !== 'entity' && part.kind !== 'rows') || ('pure' in part.plan && part.plan.pure),
  );
  return { parts, type, pure };
}
