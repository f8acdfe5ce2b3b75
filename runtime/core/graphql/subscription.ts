import { parseExact } from '../data/sql/exact-json.ts';
import type { FieldNode, GraphQLError } from 'graphql';
import { type Operation, checkCost } from '@twofold/schema';
import { refusal, rootAccess } from '../data/access/access.ts';
import { assertValid } from '../data/write/constraint.ts';
import { rowMeets } from '../data/write/row-judgement.ts';
import type { Announced, Change } from '../data/changes/changes.ts';
import { propertyOf } from '../data/model.ts';
import { LimitReached } from '../store/bounds.ts';
import type { RequestContext } from '../context/request-context.ts';
import { readArguments } from './arguments.ts';
import type { PreparedOperation } from './document-cache.ts';
import { errorsOfArguments } from './argument-errors.ts';
import type { Engine } from './engine.ts';
import { toGraphqlError } from './errors.ts';
import { executeRun, openSource } from './execute/index.ts';
import { createEventQueue } from './event-queue.ts';
import { entityOfEvents, type RootPlan } from './plan/operation.ts';
import { changeOf, matcherOf } from './publish.ts';
import { startRun } from './run.ts';
import { type Answer, judgeOf, readPlan, type Run } from './operation-run.ts';
import {
  failedResponse,
  RequestErrors,
  type Response,
  showErrors,
  shownAnswer,
  tooLarge,
} from './response.ts';
import type { Companion, Service, Transport } from './service.ts';
import type { Parameters } from './parameters.ts';
import { withTimeLimit } from './time-limit.ts';
import { withTypes } from './typed-tree.ts';

export interface SubscriptionRequest {
  readonly transport: Transport;
  readonly operation: PreparedOperation;
  readonly parameters: Parameters;
  /**
   * Makes a context with new loaders for one event. Rejects when the caller has no access any more.
   */
  context(): Promise<RequestContext>;
}

/** A subscription whose events may pass through another function before they are sent. */
interface AccompaniedRequest extends SubscriptionRequest {
  readonly variables: Parameters['variables'];
  readonly companion: Companion | undefined;
}

type EventRoot = Extract<RootPlan, { kind: 'event' }>;

/**
 * The answers of a client's subscription as JSON texts, until the iteration ends. A row that the
 * caller may not see causes no event.
 *
 * @throws RequestErrors, AppError before the first event.
 */
export async function subscribe(
  { engine, accompany }: Service,
  asked: SubscriptionRequest,
): Promise<AsyncIterableIterator<string>> {
  const { operation, parameters, transport } = asked;
  const { variables } = parameters;
  const cost = checkCost(engine, operation, variables);
  if ('over' in cost) throw new RequestErrors([cost.over]);
  const context = await asked.context();
  const companion = await accompany?.({ operation, parameters, context }, transport);
  try {
    return await begin(engine, { ...asked, ...cost, variables, companion }, context);
  } catch (refused) {
    companion?.end?.();
    throw refused;
  }
}

async function begin(
  engine: Engine,
  request: AccompaniedRequest,
  context: RequestContext,
): Promise<AsyncIterableIterator<string>> {
  const run = startRun(engine, { ...request, context });
  if ('errors' in run) throw new RequestErrors(run.errors);
  const root = run.plan.roots[0];
  if (root?.kind === 'refused') throw refusal(root.code);
  if (root?.kind === 'event') return changeEvents(engine, request, run, root);
  return ownEvents(engine, request, run);
}

function changeEvents(
  engine: Engine,
  request: AccompaniedRequest,
  run: Run,
  root: EventRoot,
): AsyncIterableIterator<string> {
  const isWanted = eventFilter(run, root);
  const queue = createEventQueue<Change>({
    start: (push, fail) =>
      engine.changes.subscribe((announced) => {
        const change = isWanted(announced);
        if (change) push(change);
      }, fail),
    sizeOf: ({ row }) => sizeOfValue(row),
  });
  return mapped(queue, request, (change) =>
    answerEvent(engine, request, (context) => answerChange(engine, request, change, context)),
  );
}

/** Approximate bytes of an event without its value. */
const EVENT_BYTES = 200;
const SIZES = new WeakMap<object, number>();

/**
 * The size of an event, which holds the row when it was removed. All subscribers get the same
 * object, so it is measured once.
 */
function sizeOfValue(value: unknown): number {
  if (typeof value !== 'object' || value === null)
    return EVENT_BYTES + (typeof value === 'string' ? value.length : 0);
  const size = SIZES.get(value) ?? EVENT_BYTES + Buffer.byteLength(JSON.stringify(value));
  SIZES.set(value, size);
  return size;
}

/** The change that an announcement tells this subscription of. */
function eventFilter(
  run: Run,
  { operation, node }: EventRoot,
): (announced: Announced) => Change | undefined {
  const { engine } = run;
  const { action } = operation;
  const given = readArguments(run, 'Subscription', node);
  const idName = action.kind === 'subscribe' ? action.id : undefined;
  const { [idName ?? '']: asked, ...others } = given;
  const entity = entityOfEvents(engine.model, operation);
  const id =
    asked === undefined || asked === null
      ? undefined
      : String(asked).replace(new RegExp(`^${entity}:`), '');
  const isAsked = matcherOf(engine, operation.name, others);
  const isCaused = (change: Change) =>
    action.kind === 'subscribe' && change.entity === entity && action.on.includes(change.kind);
  return (announced) => {
    const change =
      'field' in announced
        ? isAsked(announced) && changeOf(engine, operation, announced)
        : isCaused(announced) && announced;
    return change && (id === undefined || change.id === id) ? change : undefined;
  };
}

/** The text of one event; undefined when nothing is sent. */
async function answerEvent(
  engine: Engine,
  request: AccompaniedRequest,
  answer: (context: RequestContext) => Promise<Response | undefined>,
): Promise<string | undefined> {
  const context = await request.context();
  const { companion } = request;
  const within = () => answerInTime(engine, context, answer);
  try {
    const response = await (companion ? companion.event(within, context) : within());
    return response && String(response.text);
  } finally {
    engine.store.memory.end(context);
  }
}

/** The response to one event, within the time limit of an operation. */
async function answerInTime(
  engine: Engine,
  context: RequestContext,
  answer: (context: RequestContext) => Promise<Response | undefined>,
): Promise<Response | undefined> {
  const { limits } = engine.model.project.api;
  try {
    const response = await withTimeLimit(engine, answer(context), context);
    if (response && 'over' in response) return failedEvent(response.over, context);
    const over = response && tooLarge(response, limits);
    return over ? failedEvent(over, context) : response;
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    return failedEvent(toGraphqlError(error), context);
  }
}

const failedEvent = (error: GraphQLError, context: RequestContext): Response =>
  failedResponse({ errors: showErrors([error], context), data: null });

/** @returns undefined when the caller may not see the row. */
async function answerChange(
  engine: Engine,
  request: AccompaniedRequest,
  change: Change,
  context: RequestContext,
): Promise<Response | undefined> {
  const run = startRun(engine, { ...request, context });
  if ('errors' in run) return undefined;
  const root = run.plan.roots[0];
  if (root?.kind !== 'event') return undefined;
  if (change.kind === 'deleted') return answerRemoval(run, root, change);
  const { plan, key } = root;
  const how = { key: change.id, above: [key], tree: !plan.pure };
  const text = (await readPlan(run, plan, how)) as string | null;
  if (text === null) return undefined;
  if (plan.pure && !text.includes(engine.reader.marker))
    return asResponse(run, { text: `{"data":{${JSON.stringify(key)}:${text}}}` });
  const read: unknown = parseExact(text);
  run.outcomes.set(key, {
    tree: plan.pure ? withTypes(plan.node, read, engine.reader.marker) : read,
  });
  return finish(run);
}

/** A removed row is shown as it was, to callers who could have read it then. */
async function answerRemoval(
  run: Run,
  { key, operation }: EventRoot,
  change: Change,
): Promise<Response | undefined> {
  if (!(await couldRead(run, operation, change))) return undefined;
  run.outcomes.set(key, { tree: change.row ?? { id: change.id } });
  return finish(run);
}

function couldRead(
  run: Run,
  operation: Operation,
  { entity: name, row }: Change,
): boolean | Promise<boolean> {
  const { engine, rules } = run;
  const entity = engine.model.entity(name);
  const access = rootAccess(engine.model, rules, rules.operation(operation, 'READ'), name, 'READ');
  if (access.kind !== 'rows') return access.kind === 'all';
  // The values of the row are not known, so its rules cannot allow it.
  if (!row) return false;
  const value = (column: string) =>
    column === 'id' ? row['id'] : row[propertyOf(entity, entity.column(column))];
  return rowMeets(judgeOf(run), { entity, value }, access.conditions);
}

async function finish(run: Run): Promise<Response> {
  return asResponse(run, await executeRun(run));
}

const asResponse = ({ cuts, context }: Run, answer: Answer): Response =>
  shownAnswer(answer, cuts, context);

/** Events of the user's `subscribe` function, or of `ctx.publish` where there is none. */
async function ownEvents(
  engine: Engine,
  request: AccompaniedRequest,
  run: Run,
): Promise<AsyncIterableIterator<string>> {
  const node = run.plan.roots[0]?.node;
  const name = node?.name.value ?? '';
  const operation = engine.model.operations.get(`Subscription.${name}`);
  const access = operation && run.rules.operation(operation, 'READ');
  if (access?.kind === 'none') throw refusal(access.code);
  const source =
    node && operation && !hasSource(engine, name)
      ? publishedEvents(run, operation, node)
      : await openSource(run).catch((error: GraphQLError) => {
          throw new RequestErrors([error]);
        });
  return mapped(source, request, (event) =>
    answerEvent(engine, request, async (context) => {
      const next = startRun(engine, { ...request, context, event });
      return 'errors' in next ? undefined : finish(next);
    }),
  );
}

const hasSource = ({ schema }: Engine, field: string) =>
  schema.getSubscriptionType()?.getFields()[field]?.subscribe !== undefined;

/** Events that `ctx.publish` sends, as objects with the field's value. */
function publishedEvents(run: Run, operation: Operation, node: FieldNode) {
  const { engine } = run;
  const { name } = operation;
  const args = readArguments(run, 'Subscription', node);
  assertValid(errorsOfArguments(engine, operation, args));
  const isAsked = matcherOf(engine, name, args);
  return createEventQueue<Readonly<Record<string, unknown>>>({
    start: (push, fail) =>
      engine.changes.subscribe((announced) => {
        if ('field' in announced && isAsked(announced)) push({ [name]: announced.payload });
      }, fail),
    sizeOf: (event) => sizeOfValue(event[name]),
  });
}

/**
 * The texts of those events that have one. This is not a generator, because a generator can only be
 * ended between two events, and the next event may be a day away.
 */
function mapped<T>(
  source: AsyncIterator<T>,
  { companion }: AccompaniedRequest,
  map: (value: T) => Promise<string | undefined>,
): AsyncIterableIterator<string> {
  let isOpen = true;
  const end = () => {
    if (isOpen) companion?.end?.();
    isOpen = false;
    Promise.resolve(source.return?.()).catch(() => {});
  };
  const texts: AsyncIterableIterator<string> = {
    next: async () => {
      try {
        for (;;) {
          const { done, value } = await source.next();
          if (done) {
            end();
            return { done, value: undefined };
          }
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
