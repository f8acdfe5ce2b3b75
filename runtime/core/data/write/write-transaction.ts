import type { Action, WriteShape } from '@twofold/schema';
import { forWriting, type TransactionBounds, type TransactionWork } from '../../store/bounds.ts';
import { logTimeout, ownTransaction } from '../../store/own-transaction.ts';
import type { Query, TransactionOptions } from '../../store/store.ts';
import { madeRowsOf } from './made-rows.ts';
import type { Model } from '../model.ts';
import { isHooked } from './row-hooks.ts';
import type { Actor, WriteRequest } from './write-request.ts';
import { hooksOf, startWriting, type HookParts, type Writing } from './writing.ts';

type WriteCall = Pick<WriteRequest<unknown>, 'operation' | 'rules' | 'context'>;

interface OpenedWith extends TransactionWork {
  readonly bounds?: TransactionBounds | undefined;
}

/**
 * Runs writes in one transaction, and announces them after the commit. Where hooks may run,
 * everything that they await takes part in it.
 */
export async function inTransaction<T>(
  actor: Actor,
  request: WriteCall,
  { bounds, single }: OpenedWith,
  work: (writing: Writing) => Promise<T>,
): Promise<T> {
  const { store } = actor;
  let writing: Writing | undefined;
  // A transaction that fails for others that run at the same time is begun anew.
  const run = async (query: Query) => {
    writing = startWriting(actor, request, query);
    const done = await work(writing);
    for (const check of writing.checks) await check();
    return done;
  };
  const { action } = request.operation;
  const within = bounds && forWriting(bounds);
  const written =
    mayCallHooks(actor, action) || isFollowed(actor, action)
      ? await store
          .transactionLater(
            () => run((text, values, given = within) => store.query(text, values, given)),
            openingOf(actor, request),
          )
          .catch((error: unknown) => logTimeout(error, request.context?.log))
      : await store.transact(run, bounds, { single: single ?? false });
  const { changes = [], committed = [] } = writing ?? {};
  store.afterCommit(() => {
    actor.changes.publish(changes);
    committed.forEach((each) => each());
  });
  return written;
}

/** Whether a capability has to be called after rows of the action are inserted or removed. */
function isFollowed({ store, model }: Actor, action: Action): boolean {
  const made = madeRowsOf(store);
  if (made.size === 0 || !('entity' in action)) return false;
  return [action.entity, ...reached(model, writesOf(action))].some((entity) => made.has(entity));
}

/**
 * A hook that never ends must not keep the transaction of its write open. Without hooks the
 * statements of a write lock what they read.
 */
export function openingOf(
  actor: Pick<Actor, 'store'>,
  { operation, context }: Pick<WriteCall, 'operation' | 'context'>,
): TransactionOptions {
  const { store } = actor;
  if (!mayCallHooks(actor, operation.action))
    return { retries: 3, timeout: store.own.timeout, opened: operation.name };
  const opened = `${operation.name}, whose hooks are part of it`;
  return ownTransaction(store, { context, once: 3, opened });
}

const KNOWN = new WeakMap<HookParts, WeakMap<Action, boolean>>();

/** Whether an action writes rows of an entity with hooks, at whatever depth. */
export function mayCallHooks({ store }: Pick<Actor, 'store'>, action: Action): boolean {
  const parts = hooksOf(store);
  if (!parts || !('entity' in action)) return false;
  const known = KNOWN.get(parts) ?? new WeakMap<Action, boolean>();
  KNOWN.set(parts, known);
  const answer =
    known.get(action) ??
    [action.entity, ...reached(parts.model, writesOf(action))].some((entity) =>
      (['create', 'update', 'delete'] as const).some((verb) => isHooked(parts, entity, verb)),
    );
  known.set(action, answer);
  return answer;
}

function writesOf(action: Action): string[] {
  if (action.kind === 'upsert') return [action.create.write, action.update.write];
  return 'write' in action ? [action.write] : [];
}

/** The entities whose rows an input may write: those that it creates, links and unlinks. */
function reached(model: Model, writes: readonly string[]): Set<string> {
  const entities = new Set<string>();
  const seen = new Set<string>();
  const visit = (id: string) => {
    const shape = model.writes.get(id);
    if (!shape || seen.has(id)) return;
    seen.add(id);
    for (const { entity, shapes } of shape.writes.map((write) => below(model, shape, write))) {
      if (entity !== undefined) entities.add(entity);
      shapes.forEach(visit);
    }
  };
  writes.forEach(visit);
  return entities;
}

function below(model: Model, { entity }: WriteShape, write: WriteShape['writes'][number]) {
  if (write.kind === 'column' || write.kind === 'ignored') return { shapes: [] };
  const source = model.entity(entity).fields.get(write.field)?.source;
  const target = source?.kind === 'one' || source?.kind === 'many' ? source.entity : undefined;
  const nested =
    write.kind === 'nested' ? [write.create, write.connectOrCreate?.create, write.update] : [];
  return { entity: target, shapes: nested.flatMap((part) => part?.shape ?? []) };
}
