import { parseExact } from '../data/sql/exact-json.ts';
import { hasMoreBytes, type JsonText } from '../store/large-text.ts';
import { type ExecutionResult, type SelectionNode, GraphQLError } from 'graphql';
import { failure, AppError } from '../errors.ts';

import { LimitReached } from '../store/bounds.ts';
import type { Query } from '../data/reader.ts';
import { rootCause, formatError, type Audience } from '../graphql/errors.ts';
import type { Over } from '../graphql/time-limit.ts';
import { type OperationRequest, run, startRun } from '../graphql/run.ts';
import type { PreparedOperation } from '../graphql/document-cache.ts';
import { ROWS } from './added-fields.ts';
import type { Answer, Cut } from '../graphql/operation-run.ts';
import { takeRows } from './connections.ts';
import type { RestRequest } from './request.ts';
import { selectionOf } from './selection.ts';
import { readFieldSelection } from './field-selection.ts';
import { fieldNode, prepareOperation } from './operations.ts';
import type { RestService } from './service.ts';
import { failureOf } from './failures.ts';

/**
 * An operation with one root field, of ours or the user's, under the alias `it`.
 *
 * @example query($id: ID!) { it: post(id: $id) { id title } }
 */
export type RootFieldRequest = Omit<OperationRequest, 'context' | 'cuts'>;

/** For whom it is read, and what takes the names of fields that failed, and of lists that were cut. */
export type Asking = Pick<RestRequest, 'service' | 'context' | 'failed' | 'cuts'>;

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

/** Keys of our own query, which the answer does not show. */
const OF_QUERY = new RegExp(`^(?:${ROOT_KEY}\\.)?(?:data\\.)?`);

/**
 * The embedded lists of an answer that have more rows than it shows, as a header names them.
 *
 * @example cutLists(cuts) // 'comments=100, author.posts=100'
 */
export function cutLists(cuts: readonly Cut[]): string {
  return cuts
    .slice(0, 20)
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
  asking: Asking,
  request: RootFieldRequest,
): Promise<JsonText | null> {
  const { service, context, cuts } = asking;
  const { text } = await inTime(service, async () => {
    const answer = await run(service.engine, { ...request, context, cuts });
    return 'over' in answer ? answer : { text: textOf(asking, answer) };
  });
  return text;
}

/** Like `readRootText`, as a string. */
export async function readRootField(
  asking: Asking,
  request: RootFieldRequest,
): Promise<string | null> {
  const text = await readRootText(asking, request);
  return text === null ? null : String(text);
}

/**
 * Reads inside a transaction. Undefined when a resolver of the user is involved, because it must
 * not run there.
 */
export async function readRootFieldIn(
  asking: Asking,
  request: RootFieldRequest,
  query: Query,
): Promise<string | null | undefined> {
  const { service, context } = asking;
  const started = startRun(service.engine, { ...request, context });
  const isPlanned =
    'errors' in started || started.plan.pure || started.plan.roots[0]?.kind === 'refused';
  return isPlanned ? readRootField(asking, { ...request, query }) : undefined;
}

/** What an answer of our own operation begins with. */
const LEAD = `{"data":{"${ROOT_KEY}":`;

function textOf(asking: Asking, answer: Answer): JsonText | null {
  const text =
    'text' in answer ? answer.text.slice(LEAD.length, -2) : fieldsOf(asking, answer.result);
  if (text === null || text === 'null') return null;
  const { result } = asking.service.engine.model.project.api.limits;
  if (hasMoreBytes(text, result))
    throw failure.badRequest(`the result has more than ${result} bytes`);
  const hasRows = typeof text === 'string' && text.includes(`"${ROWS}`);
  return hasRows ? JSON.stringify(takeRows(parseExact(text), ROWS)) : text;
}

/** The fields of an answer that did not fail. */
function fieldsOf(
  { service, context, failed }: Asking,
  { data, errors = [] }: ExecutionResult,
): string | null {
  if (data === undefined) throw failure.badRequest(errors[0]?.message ?? 'Invalid request');
  for (const error of errors) {
    const cause = rootCause(error);
    if (cause instanceof LimitReached) throw cause;
    const place = dropFailed(data, error, { requestId: context.id, log: service.engine.log });
    if (place !== undefined) failed.push(place.replaceAll(ROWS, ''));
  }
  const value = data?.[ROOT_KEY] ?? null;
  return value === null ? null : JSON.stringify(value);
}

/**
 * The result of `work`.
 *
 * @throws AppError `UNAVAILABLE` (503) when it takes longer than a request may, 400 when it costs
 * more.
 */
export async function inTime<T extends object>(
  service: RestService,
  work: () => T | Over | Promise<T | Over>,
): Promise<T> {
  try {
    const done = await work();
    if (!('over' in done)) return done;
    throw overOf(service, done);
  } catch (error) {
    throw error instanceof LimitReached && error.code === 'TIMEOUT' ? tooLate(service) : error;
  }
}

function tooLate({ engine }: RestService): AppError {
  const { time } = engine.model.project.api.limits;
  return failure.unavailable(`the request took longer than ${time} ms`);
}

function overOf(service: RestService, { over: { extensions } }: Over): AppError {
  const { code, value, limit } = extensions;
  return code === 'TIMEOUT'
    ? tooLate(service)
    : failure.badRequest(
        `the request may come to ${value} objects, ${limit} are allowed: include less, or ask for a smaller limit`,
        { extensions },
      );
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
