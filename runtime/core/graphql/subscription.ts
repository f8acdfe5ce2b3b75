import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Operation } from '@twofold/schema';
import { failure } from '../errors.ts';
import { callerId, refusal, rootAccess } from '../data/access.ts';
import { rowMeets } from '../data/row-judgement.ts';
import type { Change } from '../data/changes.ts';
import { propertyOf } from '../data/model.ts';
import { LimitReached } from '../store/bounds.ts';
import type { RequestContext } from '../context/request-context.ts';
import { readArguments, readCalls } from './arguments.ts';
import { checkCost } from './cost.ts';
import type { PreparedOperation } from './document-cache.ts';
import type { Engine } from './engine.ts';
import { formatError, toGraphqlError } from './errors.ts';
import { executeRun, openSource } from './execute/index.ts';
import { createEventQueue } from './event-queue.ts';
import type { RootPlan } from './plan/operation.ts';
import { startRun } from './run.ts';
import { judgeOf, type Run } from './operation-run.ts';
import { RequestErrors } from './service.ts';
import { TIMEOUT, timeoutError, withTimeLimit } from './time-limit.ts';
import { withTypes } from './typed-tree.ts';

export interface SubscriptionRequest {
  readonly operation: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Makes a context with new loaders for one event. Rejects when the caller may no longer call. */
  context(): Promise<RequestContext>;
}

type EventRoot = Extract<RootPlan, { kind: 'event' }>;

/**
 * The answers of a subscription as JSON texts, until the iteration ends. A row that the caller may
 * not see causes no event.
 *
 * @throws RequestErrors, AppError before the first event.
 */
export async function subscribe(
  engine: Engine,
  request: SubscriptionRequest,
): Promise<AsyncIterableIterator<string>> {
  const over = checkCost(engine, request.operation, request.variables);
  if (over) throw new RequestErrors([over]);
  const context = await request.context();
  const run = startRun(engine, { ...request, context });
  if ('errors' in run) throw new RequestErrors(run.errors);
  const root = run.plan.roots[0];
  if (root?.kind === 'refused') throw refusal(root.code);
  if (root?.kind === 'event') return changeEvents(engine, request, run, root);
  return ownEvents(engine, request, run);
}

function changeEvents(
  engine: Engine,
  request: SubscriptionRequest,
  run: Run,
  root: EventRoot,
): AsyncIterableIterator<string> {
  const isWanted = eventFilter(run, root);
  const queue = createEventQueue<Change>({
    start: (push) => engine.changes.subscribe((change) => isWanted(change) && push(change)),
    sizeOf: sizeOfChange,
  });
  return mapped(queue, (change) =>
    answerEvent(engine, request, (context) => answerChange(engine, request, change, context)),
  );
}

/** Approximate bytes of a change without its row. */
const CHANGE_BYTES = 200;
const SIZES = new WeakMap<Change, number>();

/**
 * The size of a change, which holds the row when it was removed. All subscribers get the same
 * object, so it is measured once.
 */
function sizeOfChange(change: Change): number {
  if (!change.row) return CHANGE_BYTES;
  const size = SIZES.get(change) ?? CHANGE_BYTES + Buffer.byteLength(JSON.stringify(change.row));
  SIZES.set(change, size);
  return size;
}

function eventFilter(run: Run, { operation, node }: EventRoot): (change: Change) => boolean {
  const { action } = operation;
  if (action.kind !== 'subscribe') return () => false;
  const args = readArguments(
    { schema: run.engine.schema, variables: run.variables },
    { type: 'Subscription', field: operation.name, node },
  );
  const id =
    action.id === undefined || args[action.id] === undefined || args[action.id] === null
      ? undefined
      : String(args[action.id]).replace(new RegExp(`^${action.entity}:`), '');
  return (change) =>
    change.entity === action.entity &&
    action.on.includes(change.kind) &&
    (id === undefined || change.id === id);
}

/** Answers one event, within the time limit of an operation. */
async function answerEvent(
  engine: Engine,
  request: SubscriptionRequest,
  answer: (context: RequestContext) => Promise<string | undefined>,
): Promise<string | undefined> {
  const context = await request.context();
  const { time } = engine.model.project.api.limits;
  try {
    const text = await withTimeLimit(engine, answer(context), context);
    return text === TIMEOUT
      ? resultText({ errors: [timeoutError(time)], data: null }, context)
      : text;
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return resultText({ errors: [toGraphqlError(error)], data: null }, context);
  } finally {
    engine.store.memory.end(context);
  }
}

/** @returns undefined when the caller may not see the row. */
async function answerChange(
  engine: Engine,
  request: SubscriptionRequest,
  change: Change,
  context: RequestContext,
): Promise<string | undefined> {
  const run = startRun(engine, { ...request, context });
  if ('errors' in run) return undefined;
  const root = run.plan.roots[0];
  if (root?.kind !== 'event') return undefined;
  if (change.kind === 'deleted') return answerRemoval(run, root, change);
  const { plan, key } = root;
  const calls = readCalls(
    { model: engine.model, schema: engine.schema, rules: run.rules, variables: run.variables },
    plan.calls,
    change.id,
  );
  const reading = {
    rules: run.rules,
    caller: callerId(context.principal),
    asker: context,
  };
  const text = (await engine.reader.read(plan.node, calls, { ...reading, tree: !plan.pure })) as
    | string
    | null;
  if (text === null) return undefined;
  if (plan.pure && !text.includes(engine.reader.marker))
    return `{"data":{${JSON.stringify(key)}:${text}}}`;
  const read: unknown = JSON.parse(text);
  run.outcomes.set(key, {
    tree: plan.pure ? withTypes(plan.node, read, engine.reader.marker) : read,
  });
  return finish(run);
}

/** A removed row is shown as it was, to callers who could have read it then. */
async function answerRemoval(
  run: Run,
  { key, operation }: EventRoot,
  { entity: name, id, row = { id } }: Change,
): Promise<string | undefined> {
  if (!(await couldRead(run, operation, name, row))) return undefined;
  run.outcomes.set(key, { tree: row });
  return finish(run);
}

function couldRead(
  run: Run,
  operation: Operation,
  name: string,
  row: Readonly<Record<string, unknown>>,
): boolean | Promise<boolean> {
  const { engine, rules } = run;
  const entity = engine.model.entity(name);
  const access = rootAccess(engine.model, rules, rules.operation(operation, 'READ'), name, 'READ');
  if (access.kind !== 'rows') return access.kind === 'all';
  const value = (column: string) =>
    column === 'id' ? row['id'] : row[propertyOf(entity, entity.column(column))];
  return rowMeets(judgeOf(run), { entity, value }, access.conditions);
}

async function finish(run: Run): Promise<string> {
  const answer = await executeRun(run);
  return 'text' in answer ? answer.text : resultText(answer.result, run.context);
}

function resultText({ data, errors }: ExecutionResult, context: RequestContext): string {
  const formatted = errors?.map((error) =>
    formatError(error, { requestId: context.id, log: context.log }),
  );
  return JSON.stringify({ ...(formatted && { errors: formatted }), data });
}

/** Events of the user's `subscribe` function. */
async function ownEvents(
  engine: Engine,
  request: SubscriptionRequest,
  run: Run,
): Promise<AsyncIterableIterator<string>> {
  assertSource(engine, run);
  const source = await openSource(run).catch((error: GraphQLError) => {
    throw new RequestErrors([error]);
  });
  return mapped(source, (event) =>
    answerEvent(engine, request, async (context) => {
      const next = startRun(engine, { ...request, context, event });
      return 'errors' in next ? undefined : finish(next);
    }),
  );
}

function assertSource({ model, schema }: Engine, run: Run): void {
  const name = run.plan.roots[0]?.node.name.value ?? '';
  const operation = model.operations.get(`Subscription.${name}`);
  const access = operation && run.rules.operation(operation, 'READ');
  if (access?.kind === 'none') throw refusal(access.code);
  if (!schema.getSubscriptionType()?.getFields()[name]?.subscribe)
    throw failure.badRequest(
      `${schema.getSubscriptionType()?.name}.${name} is not implemented yet`,
    );
}

/**
 * The texts of those events that have one. This is not a generator, because a generator can only be
 * ended between two events, and the next event may be a day away.
 */
function mapped<T>(
  source: AsyncIterator<T>,
  map: (value: T) => Promise<string | undefined>,
): AsyncIterableIterator<string> {
  const end = () => void Promise.resolve(source.return?.()).catch(() => {});
  const texts: AsyncIterableIterator<string> = {
    next: async () => {
      try {
        for (;;) {
          const { done, value } = await source.next();
          if (done) return { done: true, value: undefined };
          const text = await map(value);
          if (text !== undefined) return { done: false, value: text };
        }
      } catch (thrown) {
        end();
        throw thrown;
      }
    },
    return: async () => {
      end();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => texts,
  };
  return texts;
}
