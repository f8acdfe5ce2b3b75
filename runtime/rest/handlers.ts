import { createHash } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import type { Operation } from '@twofold/schema';
import { AppError, failure } from '../errors.ts';
import { callerId, createRules, ownersOf, refusal, rootAccess, type Rules } from '../data/access.ts';
import { toFailure } from '../data/database-failure.ts';
import type { Call, Root } from '../data/plan.ts';
import type { Query as Run, Reading } from '../data/reader.ts';
import type { ScalarCodec } from '../data/scalars/known.ts';
import { stored } from '../data/scope.ts';
import { toStored } from '../data/values.ts';
import { performAction, type Actor } from '../data/write-action.ts';
import { reply, type Call as Request, type Handler, type Reply } from '../http/route.ts';
import { readInput, readObject } from './input.ts';
import { restList, type RestEntity } from './modules.ts';
import { readList, readPage } from './query.ts';
import { readShape } from './shape.ts';

/** What the handlers of every module share. */
export interface RestService extends Actor {
  readonly schema: GraphQLSchema;
  readonly codecs: ReadonlyMap<string, ScalarCodec>;
  readonly bodyLimit: number;
}

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'private, no-cache' };

/** The handlers of one module, by what they do. */
export function handlersOf(service: RestService, entity: RestEntity): Readonly<Record<'list' | 'get' | 'create' | 'update' | 'remove', Handler>> {
  return {
    list: mapped((request) => list(service, entity, request)),
    get: mapped((request) => get(service, entity, request)),
    create: mapped((request) => create(service, entity, request)),
    update: mapped((request) => update(service, entity, request)),
    remove: mapped((request) => remove(service, entity, request)),
  };
}

/** What the database refused, in REST's own statuses: a relation to nothing is 422. */
function mapped(handle: (request: Request) => Promise<Reply>): Handler {
  return async (request) => {
    try {
      return await handle(request);
    } catch (thrown) {
      const known = toFailure(thrown);
      if (known?.extensions['reason'] === 'RELATION') throw failure.unprocessable(known.message);
      throw known ?? thrown;
    }
  };
}

async function list(service: RestService, entity: RestEntity, { context, query }: Request): Promise<Reply> {
  const operation = entity.list as Operation;
  const rules = createRules(service.model, context.principal);
  const owners = mayRead(service, rules, operation, entity);
  const options = operation.action.kind === 'list' ? restList(entity.entity.name, operation.action.list) : fail();
  const page = readPage(query, options);
  const { shape, calls } = readShape(query, entity, { model: service.model, rules, firstCall: 1 });
  const call = readList(query, entity, { rules, codecs: service.codecs, list: options, page });
  const root: Root = { kind: 'connection', type: '', entity: entity.entity.name, list: options, call: 0, ...owners, fields: [{ kind: 'totalCount', key: 'total' }, { kind: 'nodes', key: 'data', shape }] };
  const text = await read(service, entity, { root, calls: [call, ...calls], rules }, context);
  // The database gives the count and the rows; the text of the rows goes out as it is.
  const [start = '', total = '0'] = /^\{"total"\s?:\s?(\d+),\s?"data"\s?:\s?/.exec(text ?? '') ?? [];
  const count = Number(total);
  const pagination = { total: count, page: page.page, page_size: page.limit, total_pages: Math.ceil(count / page.limit) };
  return reply(200, `{"data":${(text ?? '').slice(start.length, -1)},"pagination":${JSON.stringify(pagination)}}`, JSON_HEADERS);
}

function fail(): never {
  throw failure.notFound();
}

/** The root field's own rules and the entity's. */
function mayRead({ model }: RestService, rules: Rules, operation: Operation, { entity }: RestEntity): { readonly owners?: readonly string[] } {
  const own = rules.operation(operation, 'READ');
  const access = rootAccess(model, rules, own, entity.name, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return ownersOf(own, access);
}

interface Asked {
  readonly root: Root;
  readonly calls: readonly Call[];
  readonly rules: Rules;
  /** A transaction's; the store's own when absent. */
  readonly run?: Run;
}

async function read(service: RestService, entity: RestEntity, { root, calls, rules, run = service.store.query }: Asked, { principal }: Request['context']): Promise<string | null> {
  const reading: Reading = { rules, caller: callerId(principal), tree: false, query: run };
  const text = (await service.reader.read(root, calls, reading)) as string | null;
  if (text === null) return null;
  return finish(service, entity, text);
}

/** What only owners may read is null for others; scalars of the user's own go through their function. */
function finish({ reader, codecs }: RestService, { entity }: RestEntity, text: string): string {
  const own = new Map(entity.fields.flatMap(({ name, type }) => (codecs.get(type.name)?.plain === false ? [[name, codecs.get(type.name) as ScalarCodec] as const] : [])));
  if (own.size === 0 && !text.includes(reader.marker)) return text;
  const convert = (key: string, value: any) => {
    if (value !== null && typeof value === 'object' && reader.marker in value) return null;
    const codec = value === null ? undefined : own.get(key);
    return codec ? codec.output(value) : value;
  };
  return JSON.stringify(JSON.parse(text, convert));
}

/** A row by its key as one JSON object. */
async function readOne(service: RestService, entity: RestEntity, id: unknown, { context, query }: Pick<Request, 'context' | 'query'>, rules: Rules, run?: Run, owners: { readonly owners?: readonly string[] } = {}): Promise<string | null> {
  const { shape, calls } = readShape(query, entity, { model: service.model, rules, firstCall: 1 });
  const root: Root = { kind: 'get', entity: entity.entity.name, call: 0, shape, ...owners };
  return read(service, entity, { root, calls: [{ equals: [{ column: 'id', value: id }], order: [] }, ...calls], rules, ...(run && { run }) }, context);
}

function readId({ model, store }: RestService, entity: RestEntity, { params }: Request): string {
  const text = params['id'] ?? '';
  if (toStored(text, stored(model, entity.model, 'id'), model.ids, store.dialect) === null) throw failure.badRequest('Invalid id format');
  return text;
}

async function get(service: RestService, entity: RestEntity, request: Request): Promise<Reply> {
  const rules = createRules(service.model, request.context.principal);
  const owners = mayRead(service, rules, entity.get as Operation, entity);
  const text = await readOne(service, entity, readId(service, entity, request), request, rules, undefined, owners);
  if (text === null) throw notFound(entity);
  const tag = etag(text);
  const headers = { ...JSON_HEADERS, ETag: tag };
  return matches(request.koa.get('If-None-Match'), tag) ? reply(304, undefined, headers) : reply(200, text, headers);
}

const notFound = ({ entity }: RestEntity) => failure.notFound(`${entity.name} not found`);

const etag = (text: string) => `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** RFC 9110 §13.1: a list of tags, or `*`. */
const matches = (header: string, tag: string) => header.split(',').map((item) => item.trim().replace(/^W\//, '')).some((item) => item === tag || (item === '*' && tag !== ''));

async function create(service: RestService, entity: RestEntity, request: Request): Promise<Reply> {
  const operation = entity.create as Operation;
  const args = readInput(service.schema, operation, await readObject(request.koa, service.bodyLimit));
  const rules = createRules(service.model, request.context.principal);
  const written = await performAction(service, { operation, args, rules, prefix: '', caller: callerId(request.context.principal), read: readAfter(service, entity, request, rules) });
  if (written.id === null || written.read === null) throw failure.forbidden();
  return reply(201, written.read, { ...JSON_HEADERS, ETag: etag(written.read), Location: `${entity.path}/${written.id}` });
}

const readAfter = (service: RestService, entity: RestEntity, request: Request, rules: Rules) => (id: string, run: Run) =>
  readOne(service, entity, id, { context: request.context, query: {} }, rules, run);

async function update(service: RestService, entity: RestEntity, request: Request): Promise<Reply> {
  const operation = entity.update as Operation;
  const id = readId(service, entity, request);
  const args = readInput(service.schema, operation, await readObject(request.koa, service.bodyLimit), id);
  const rules = createRules(service.model, request.context.principal);
  const read = readAfter(service, entity, request, rules);
  const written = await performAction(service, { operation, args, rules, prefix: '', caller: callerId(request.context.principal), read, ...ifMatch(request, read) });
  if (written.id === null || written.read === null) throw notFound(entity);
  return reply(200, written.read, { ...JSON_HEADERS, ETag: etag(written.read) });
}

/** `If-Match`: the row must be as the client saw it, looked at in the same transaction. RFC 9110 §13.1.1 */
function ifMatch({ koa }: Request, read: (id: string, run: Run) => Promise<string | null>): { precondition?(id: string, run: Run): Promise<void> } {
  const header = koa.get('If-Match');
  if (header === '') return {};
  return {
    precondition: async (id, run) => {
      const text = await read(id, run);
      if (text !== null && !matches(header, etag(text))) throw new AppError(412, 'PRECONDITION_FAILED', 'It was changed since');
    },
  };
}

async function remove(service: RestService, entity: RestEntity, request: Request): Promise<Reply> {
  const operation = entity.remove as Operation;
  const action = operation.action.kind === 'remove' ? operation.action : fail();
  const id = readId(service, entity, request);
  const rules = createRules(service.model, request.context.principal);
  const read = readAfter(service, entity, request, rules);
  const args = action.id.reduceRight<unknown>((value, name) => ({ [name]: value }), id) as Record<string, unknown>;
  const written = await performAction(service, { operation, args, rules, prefix: '', caller: callerId(request.context.principal), read: async () => null, ...ifMatch(request, read) });
  if (written.id === null) throw notFound(entity);
  return reply(204);
}
