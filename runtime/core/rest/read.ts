import { isRawNumber, parseExact } from '../data/sql/exact-json.ts';
import { hasMoreBytes, type JsonText } from '../store/large-text.ts';
import { type ExecutionResult, type SelectionNode, GraphQLError } from 'graphql';
import { failure, AppError } from '../errors.ts';
import type { RequestContext } from '../context/request-context.ts';
import { refusal } from '../data/access/access.ts';
import { LimitReached } from '../store/bounds.ts';
import type { Query } from '../data/reader.ts';
import { checkCost } from '@twofold/schema';
import { rootCause, formatError, type Audience } from '../graphql/errors.ts';
import { TIMEOUT, withTimeLimit } from '../graphql/time-limit.ts';
import { executeRun } from '../graphql/execute/index.ts';
import { startRun } from '../graphql/run.ts';
import type { PreparedOperation } from '../graphql/document-cache.ts';
import { ROWS } from './added-fields.ts';
import { type Cuts, readPlan, type Run } from '../graphql/operation-run.ts';
import { takeRows } from './connections.ts';
import type { RestRequest } from './request.ts';
import { selectionOf } from './selection.ts';
import { readFieldSelection } from './field-selection.ts';
import { fieldNode, prepareOperation } from './operations.ts';
import type { RestService } from './service.ts';
import { failureOf } from './failures.ts';

/** A root field, of ours or the user's, under the alias `it`. */
export interface RootFieldRequest {
  /** @example query($id: ID!) { it: post(id: $id) { id title } } */
  readonly operation: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether the variables are those of one of our fields, whose values have been coerced. */
  readonly coerced?: boolean;
  readonly context: RequestContext;
  /** Collects the paths of fields that failed and are left out. */
  readonly failed: string[];
}

export const ROOT_KEY = 'it';

interface RootField {
  readonly args: readonly string[];
  /** What is selected of the field; the selection of a row when absent. */
  below?(rows: readonly SelectionNode[]): readonly SelectionNode[];
}

/** The operation that reads one of our root fields, with what the request selects of a row. */
export function rowsOperation(
  request: RestRequest,
  name: string,
  { args, below = (rows) => rows }: RootField,
): PreparedOperation {
  const { service, served, query, rules } = request;
  const key = `${name} ${rules.callerClass} ${JSON.stringify([query['fields'], query['include']])}`;
  return service.operations(key, () => {
    const rows = selectionOf(request, served.module.entity.name, readFieldSelection(query));
    return prepareOperation(fieldNode(name, { as: ROOT_KEY, args, below: below(rows) }));
  });
}

/** The lists that were cut in the answer to a request. */
const CUTS = new WeakMap<RequestContext, Cuts>();

/** Keys of our own query, which the answer does not show. */
const OF_QUERY = new RegExp(`^(?:${ROOT_KEY}\\.)?(?:data\\.)?`);

/**
 * The embedded lists of an answer that have more rows than it shows, as a header names them.
 *
 * @example cutLists(context) // 'comments=100, author.posts=100'
 */
export function cutLists(context: RequestContext): string | undefined {
  const list = CUTS.get(context)?.list;
  return list
    ?.slice(0, 20)
    .map(({ path, size }) => `${path.join('.').replace(OF_QUERY, '').replaceAll(ROWS, '')}=${size}`)
    .join(', ');
}

/**
 * Reads one root field as JSON text; null when there is no row. Fields that the caller may not read
 * are left out.
 *
 * @throws AppError with which the field failed.
 */
export async function readRootText(
  service: RestService,
  request: RootFieldRequest,
): Promise<JsonText | null> {
  const run = start(service, request);
  const text = await inTime(
    service,
    request.context,
    isPlanned(run) ? readPlanned(service, run) : execute(service, request, run),
  );
  CUTS.set(request.context, run.cuts);
  const { result } = service.engine.model.project.api.limits;
  if (text !== null && hasMoreBytes(text, result))
    throw failure.badRequest(`the result has more than ${result} bytes`);
  return text;
}

/** Like `readRootText`, as a string. */
export async function readRootField(
  service: RestService,
  request: RootFieldRequest,
): Promise<string | null> {
  const text = await readRootText(service, request);
  return text === null ? null : String(text);
}

/**
 * Reads inside a transaction. Undefined when a resolver of the user is involved, because it must
 * not run there.
 */
export async function readRootFieldIn(
  service: RestService,
  request: RootFieldRequest,
  query: Query,
): Promise<string | null | undefined> {
  const run = start(service, request);
  return isPlanned(run) ? (readPlanned(service, run, query) as Promise<string | null>) : undefined;
}

function start({ engine }: RestService, request: RootFieldRequest): Run {
  const { operation, variables } = request;
  const cost = checkCost(engine, operation, variables);
  if ('over' in cost) {
    const { value, limit } = cost.over.extensions;
    throw failure.badRequest(
      `the request may come to ${value} objects, ${limit} are allowed: include less, or ask for a smaller limit`,
      { extensions: cost.over.extensions },
    );
  }
  const run = startRun(engine, { ...request, ...cost });
  if ('errors' in run) throw failure.badRequest(run.errors[0]?.message ?? 'Invalid request');
  return run;
}

const isPlanned = ({ plan }: Run) => plan.pure || plan.roots[0]?.kind === 'refused';

async function readPlanned(
  { engine: { reader } }: RestService,
  run: Run,
  query?: Query,
): Promise<JsonText | null> {
  const root = run.plan.roots[0];
  if (root?.kind === 'refused') throw refusal(root.code);
  if (root?.kind !== 'read') return null;
  const text = await readPlan(run, root.plan, { tree: false, query, large: query === undefined });
  return text?.includes(reader.marker)
    ? JSON.stringify(withoutMarkers(parseExact(String(text)), reader.marker))
    : text;
}

/** Removes members whose value is a marker. */
function withoutMarkers(value: unknown, marker: string): unknown {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((item) => withoutMarkers(item, marker) ?? null);
  if (marker in value) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutMarkers(inner, marker)]),
  );
}

/** Runs the executor of GraphQL, because resolvers of the user are involved. */
async function execute(
  service: RestService,
  { context, failed }: RootFieldRequest,
  run: Run,
): Promise<string | null> {
  const answer = await executeRun(run);
  const { data, errors = [] } =
    'text' in answer ? (parseExact(String(answer.text)) as ExecutionResult) : answer.result;
  for (const error of errors) {
    if (rootCause(error) instanceof LimitReached) throw rootCause(error);
    const place = dropFailed(data, error, { requestId: context.id, log: service.engine.log });
    if (place !== undefined) failed.push(place.replaceAll(ROWS, ''));
  }
  const value = data?.[ROOT_KEY] ?? null;
  const text = value === null ? null : JSON.stringify(value);
  return text?.includes(`"${ROWS}`) ? JSON.stringify(takeRows(value, ROWS)) : text;
}

/** @throws AppError `UNAVAILABLE` (503) when `work` takes longer than a request may. */
export async function inTime<T>(
  service: RestService,
  context: RequestContext,
  work: Promise<T>,
): Promise<T> {
  const { time } = service.engine.model.project.api.limits;
  const late = () => failure.unavailable(`the request took longer than ${time} ms`);
  const done = await withTimeLimit(service.engine, work, context).catch((error: unknown) => {
    throw error instanceof LimitReached && error.code === 'TIMEOUT' ? late() : error;
  });
  if (done === TIMEOUT) throw late();
  return done;
}

/**
 * Removes failed fields from an answer, so that the other fields are kept and null always means
 * null. A refusal is not a failure.
 *
 * @returns the path of the failed field, `author.shout`; undefined for one that the caller may not
 * read.
 * @throws AppError when the whole answer failed, the resolver is not written yet, or the server has
 * a problem.
 */
function dropFailed(data: unknown, error: GraphQLError, audience: Audience): string | undefined {
  const thrown = failureOf(error);
  const path = error.path ?? [];
  const refused = thrown instanceof AppError && (thrown.status === 401 || thrown.status === 403);
  if (
    path.length < 2 ||
    (thrown instanceof AppError && (thrown.status === 501 || thrown.status === 503))
  )
    throw thrown;
  if (!remove(data, path)) throw thrown;
  if (refused) return undefined;
  formatError(error, audience);
  return placeOf(path);
}

/** Keys around the rows of an answer, which are not part of a reported path. */
const WRAPPERS: ReadonlySet<unknown> = new Set(['data', 'nodes', 'edges', 'node', 'object']);

/** The path without list indexes. The log names the row. */
function placeOf(path: readonly (string | number)[]): string {
  const names = path.slice(1).filter((step) => typeof step === 'string');
  while (names.length > 1 && WRAPPERS.has(names[0])) names.shift();
  return names.join('.');
}

/** Removes the member that became null; false when that is the whole answer. */
function remove(data: unknown, path: readonly (string | number)[]): boolean {
  let parent = data;
  for (const step of path) {
    if (typeof parent !== 'object' || parent === null || !(step in parent)) return true;
    const value = (parent as Record<string | number, unknown>)[step];
    // In a list the null stays, so that the other items keep their index.
    if (value === null)
      return (
        Array.isArray(parent) ||
        (parent !== data && delete (parent as Record<string | number, unknown>)[step])
      );
    parent = value;
  }
  return true;
}
