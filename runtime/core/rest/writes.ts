import { sql, toStatement, valueSql } from '../data/sql/fragment.ts';
import { bind } from '../data/reader.ts';
import { reference, tableName } from '../data/sql/scope.ts';
import { stored } from '../data/sql/stored-as.ts';
import { restAnswer } from '@twofold/schema';
import { AppError, failure } from '../errors.ts';
import { ALL } from '../data/access/access.ts';
import type { Query } from '../data/reader.ts';
import { performAction } from '../data/write/write-action.ts';
import type { WriteRequest } from '../data/write/write-request.ts';
import { mayCallHooks, openingOf } from '../data/write/write-transaction.ts';
import { clearLoaders } from '../graphql/loaders.ts';
import { withTimeLimit } from '../graphql/time-limit.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { AdminWrite } from './admin-writes.ts';
import { checkArgument, coerceArguments, keyValue, readArguments, readObject } from './body.ts';
import { etagOf, hasTag } from './etag.ts';
import { callOwnWrite } from './own-fields.ts';
import { assertKnown } from './query.ts';
import { readRootField, readRootFieldIn, inTime, type RootFieldRequest } from './read.ts';
import { addedNames } from './added-fields.ts';
import { rowRequest } from './reads.ts';
import { notFound, type RestAnswer, type RestRequest } from './request.ts';

type Args = Readonly<Record<string, unknown>>;

/** `POST /api/posts` */
export async function create(request: RestRequest): Promise<RestAnswer> {
  const args = await readBodyArguments(request);
  const { id, text, done } = await write(request, args, { answer: answerOf(request, 'create') });
  if (!done) throw failure.unprocessable(`${request.served.module.entity.name} was not created`);
  const { get, path } = request.served.module;
  const location = get && id !== null ? { Location: `${path}/${encodeURIComponent(id)}` } : {};
  return { status: 201, ...body(text), headers: { ...location, ...tagged(text) } };
}

/** `PATCH /api/posts/:id`, and `PUT`: absent fields are unchanged, null sets null. */
export async function update(request: RestRequest, key: string): Promise<RestAnswer> {
  const args = await readBodyArguments(request, key);
  const { text, done } = await write(request, args, { answer: answerOf(request, 'update'), key });
  if (!done) throw notFound(request);
  return { status: 200, ...body(text), headers: tagged(text) };
}

/** `DELETE /api/posts/:id` */
export async function remove(request: RestRequest, key: string): Promise<RestAnswer> {
  const { action } = request.operation;
  if (action.kind !== 'remove') throw failure.notFound();
  const { id: path = [], version } = action;
  assertKnown(request.query, (name) => name === version);
  const id: unknown = keyValue(request.declared, path, key);
  const args = {
    ...(path.reduceRight<unknown>((value, part) => ({ [part]: value }), id) as Args),
    ...(version !== undefined && readVersion(request, version)),
  };
  const { done } = await write(request, args, { answer: 'nothing', key });
  if (!done) throw notFound(request);
  return { status: 204 };
}

/** The version that the caller has read, in the query of a DELETE: `?revision=3`. */
function readVersion({ declared, query }: RestRequest, name: string): Args {
  const given = query[name];
  const value = keyValue(declared, [name], given === undefined ? undefined : String(given));
  for (const argument of declared)
    if (argument.name === name) checkArgument(argument, value, false);
  return value === undefined ? {} : { [name]: value };
}

const body = (text: string | null) => (text === null ? {} : { text });

const tagged = (text: string | null): Record<string, string> =>
  text === null ? {} : { ETag: etagOf(text) };

async function readBodyArguments(request: RestRequest, key?: string): Promise<Args> {
  const { service, query, koa } = request;
  assertKnown(query, (parameter) => parameter === 'fields' || parameter === 'include');
  return readArguments(request, await readObject(koa, service.bodyLimit), key);
}

type Answer = ReturnType<typeof restAnswer>;

/** A caller who may write but not read gets only the key of the new row. */
function answerOf({ served, rules }: RestRequest, verb: 'create' | 'update'): Answer {
  const answer = restAnswer(served.module, verb);
  return answer === 'object' && rules.entity(served.module.entity, 'READ').kind === 'none'
    ? 'id'
    : answer;
}

interface Writing {
  readonly answer: Answer;
  /** The key of an existing row. */
  readonly key?: string;
}

interface Written {
  readonly id: string | null;
  readonly text: string | null;
  readonly done: boolean;
}

function write(request: RestRequest, args: Args, writing: Writing): Promise<Written> {
  const verb = request.operation.action.kind as 'create' | 'update' | 'remove';
  return request.served.isOwn(verb)
    ? writeOwn(request, args, writing)
    : writeAction(request, args, writing);
}

/** Checks the precondition, writes, and reads the answer, in one transaction. */
async function writeAction(
  request: RestRequest,
  args: Args,
  { answer, key }: Writing,
): Promise<Written> {
  const { service, operation, rules, context, served } = request;
  const seen = key === undefined ? undefined : await ifMatch(request, key);
  const readRequestFor = (id: string) => rowRequest(request, addedNames.row(served.module), id);
  const action: ActionRequest = {
    operation,
    args: operation.action.kind === 'remove' ? args : coerceArguments(request.declared, args),
    rules,
    prefix: '',
    asker: context,
    context,
    // The answer includes related rows, which may be many.
    long: answer === 'object' && request.query['include'] !== undefined,
    read: async (id, query) =>
      answer === 'object' ? readRootFieldIn(request, readRequestFor(id), query) : null,
    ...(seen && { precondition: seen }),
  };
  const writing = perform(request, action, key);
  const written =
    writing instanceof Promise
      ? await inTime(service, () => withTimeLimit(service.engine, writing, context))
      : writing;
  clearLoaders(context);
  if (written.id === null) return { id: null, text: null, done: false };
  const object =
    written.read === undefined
      ? await readWritten(request, readRequestFor(written.id))
      : written.read;
  return {
    id: idOf(request, written.id),
    text:
      object ?? (answer === 'nothing' ? null : JSON.stringify({ id: idOf(request, written.id) })),
    done: true,
  };
}

type ActionRequest = WriteRequest<string | null | undefined>;

/** Runs a write together with its checks and its effects, in one transaction. */
function perform(request: RestRequest, action: ActionRequest, key: string | undefined) {
  const { service } = request;
  const { engine, written } = service;
  if (!written) return performAction(engine, action);
  const options = mayCallHooks(engine, action.operation.action) ? openingOf(engine, action) : {};
  return engine.store.transaction(async () => {
    const settle = await service.writing?.(adminWriteOf(request, key));
    const done = await performAction(engine, action);
    await settle?.();
    const { context, operation, served } = request;
    const { entity } = served.module;
    if (done.id !== null)
      await written({ context, operation, entity, id: done.id, args: action.args });
    return done;
  }, options);
}

const adminWriteOf = (
  { koa, operation, served }: RestRequest,
  key: string | undefined,
): AdminWrite => ({
  context: koa.state['context'] as RequestContext,
  entity: served.module.entity,
  verb: operation.action.kind as AdminWrite['verb'],
  id: key ?? null,
});

/** Reads the written row. An error here must not look as if the row had not been written. */
async function readWritten(
  request: RestRequest,
  readRequest: RootFieldRequest,
): Promise<string | null> {
  const { service, context, failed } = request;
  try {
    return await readRootField(request, readRequest);
  } catch (error) {
    service.engine.log.error(
      { requestId: context.id, stack: error instanceof Error ? error.stack : String(error) },
      'written, and could not be shown',
    );
    failed.push('*');
    return null;
  }
}

function idOf({ service, served }: RestRequest, id: string): string {
  const { entity, global } = service.engine.model.entity(served.module.entity.name);
  return global ? `${entity.name}:${id}` : id;
}

async function writeOwn(
  request: RestRequest,
  args: Args,
  { answer, key }: Writing,
): Promise<Written> {
  const { service, served } = request;
  if (key !== undefined) await (await ifMatch(request, key))?.(key, service.engine.store.query);
  const { id: given, text, done } = await callOwnWrite(request, args);
  const id = given ?? key ?? null;
  if (!done || answer !== 'object' || text !== null || id === null)
    return {
      id,
      text:
        answer === 'object' || id === null ? text : answer === 'id' ? JSON.stringify({ id }) : null,
      done,
    };
  return {
    id,
    text:
      (await readWritten(request, rowRequest(request, addedNames.row(served.module), id))) ??
      JSON.stringify({ id }),
    done,
  };
}

const changed = () => new AppError(412, 'PRECONDITION_FAILED', 'It was changed since');

/**
 * Checks `If-Match`: the row must be as the client saw it, and stays locked until it is written.
 * RFC 9110 §13.1.1
 *
 * A resolver of the user cannot run inside the transaction. An object with such a field is compared
 * before, and its stored row is compared again inside.
 */
async function ifMatch(
  request: RestRequest,
  key: string,
): Promise<((id: string, query: Query) => Promise<void>) | undefined> {
  const { served, koa } = request;
  const header = koa.get('If-Match');
  if (header === '') return undefined;
  if (request.rules.entity(served.module.entity, 'READ').kind === 'none') throw changed();
  const readRequest = rowRequest(request, addedNames.row(served.module), key);
  const before = await lookBefore(request, readRequest, key);
  return async (id, query) => {
    await lock(request, id, query);
    const text = before
      ? await rawRow(request, id, query)
      : await readRootFieldIn(request, readRequest, query);
    if (
      before
        ? text !== before.row || (before.text !== null && !hasTag(header, etagOf(before.text)))
        : typeof text === 'string' && !hasTag(header, etagOf(text))
    )
      throw changed();
  };
}

async function lookBefore(
  request: RestRequest,
  readRequest: ReturnType<typeof rowRequest>,
  key: string,
): Promise<{ readonly text: string | null; readonly row: string | null } | undefined> {
  const { service } = request;
  const { query } = service.engine.store;
  const planned = await readRootFieldIn(request, readRequest, query);
  if (planned !== undefined) return undefined;
  return {
    row: await rawRow(request, key, query),
    text: await readRootField(request, readRequest),
  };
}

/** Reads the columns of a row without access rules, to compare it. */
async function rawRow(
  { service, served, rules }: RestRequest,
  id: string,
  query: Query,
): Promise<string | null> {
  const entity = served.module.entity.name;
  const root = {
    kind: 'get' as const,
    entity,
    call: 0,
    selection: { entity, fields: [], row: true },
    access: ALL,
  };
  const reading = { rules, tree: false, query };
  return (await service.engine.reader.read(
    root,
    [{ equals: [{ column: 'id', value: id }], order: [] }],
    reading,
  )) as string | null;
}

/**
 * Locks the row. PostgreSQL would otherwise let another transaction write between our read and our
 * write; SQLite has one writer.
 */
async function lock({ service, served }: RestRequest, id: string, query: Query): Promise<void> {
  const { model, store } = service.engine;
  const { dialect, query: outside } = store;
  if (dialect !== 'postgres' || query === outside) return;
  const entity = model.entity(served.module.entity.name);
  const table = tableName(entity.entity, dialect);
  const key = valueSql(stored(model, entity, 'id'), (as) => ({ from: 'value', value: id, as }));
  const { text, parameters } = toStatement(
    sql`select 1 from ${table} where ${reference(entity, table, 'id')} = ${key} for update`,
    { dialect },
  );
  await query(text, bind(parameters, model, dialect, {}));
}
