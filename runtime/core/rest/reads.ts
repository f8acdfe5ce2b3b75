import type { RestModule } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';
import { failure } from '../errors.ts';
import { streamRows, streamTypeOf } from './every-row.ts';
import { etagOf, hasTag } from './etag.ts';
import { askOwnGet, askOwnList } from './own-fields.ts';
import { assertKnown, readPage, readListVariables, type Page } from './query.ts';
import {
  readRootField,
  readRootText,
  ROOT_KEY,
  type RootFieldRequest,
  rowsOperation,
} from './read.ts';
import { joinTexts, type JsonText } from '../store/large-text.ts';
import { notFound, type RestAnswer, type RestRequest } from './request.ts';
import { addedNames } from './added-fields.ts';
import { fieldNode, prepareOperation } from './operations.ts';
import type { RestService } from './service.ts';

const PAGE_WORDS = new Set(['page', 'limit']);
const SHAPE_WORDS = new Set(['fields', 'include']);

/** `GET /api/posts` */
export async function list(request: RestRequest): Promise<RestAnswer> {
  const { served, query } = request;
  const streamed = streamTypeOf(request.koa);
  const sortable = served.sorts.length > 0;
  assertKnown(
    query,
    (name) =>
      SHAPE_WORDS.has(name) ||
      (!streamed && PAGE_WORDS.has(name)) ||
      served.filters.has(name) ||
      (sortable && (name === 'sort' || name === 'order')) ||
      (served.searched && name === 'search'),
  );
  if (streamed) return streamRows(request, streamed);
  const page = readPage(query, served);
  const { total, data } = served.isOwn('list')
    ? await askOwnList(request, page)
    : await askList(request, page);
  const pagination = {
    total,
    page: page.page,
    page_size: page.limit,
    total_pages: total === null ? null : Math.ceil(total / page.limit),
  };
  const text = joinTexts(['{"data":', data, `,"pagination":${JSON.stringify(pagination)}}`]);
  return { status: 200, text };
}

async function askList(
  request: RestRequest,
  { page, limit }: Page,
): Promise<{ total: number; data: JsonText }> {
  const { service, served, query, rules } = request;
  const variables = {
    ...readListVariables(service, query, served, rules),
    limit,
    offset: (page - 1) * limit,
  };
  const operation = rowsOperation(request, addedNames.list(served.module), {
    args: ['where', 'orderBy', 'search', 'limit', 'offset'],
    below: (rows) => [TOTAL, fieldNode('nodes', { as: 'data', below: rows })],
  });
  return split(await readRootText(request, { operation, variables, coerced: true }));
}

const TOTAL = fieldNode('totalCount', { as: 'total' });

/** The number of rows of a module that the caller may see. */
export async function totalOf(
  service: RestService,
  module: RestModule,
  context: RequestContext,
): Promise<number> {
  const name = addedNames.list(module);
  const operation = service.operations(`total ${name}`, () =>
    prepareOperation(fieldNode(name, { as: ROOT_KEY, args: ['limit'], below: [TOTAL] })),
  );
  const asking = { service, context: service.callerOf(context), failed: [], cuts: [] };
  const asked = { operation, variables: { limit: 1 }, coerced: true };
  const text = await readRootField(asking, asked);
  return text === null ? 0 : (JSON.parse(text) as { readonly total: number }).total;
}

/**
 * The database returns the count and the rows as one text. The text of the rows is sent unchanged.
 */
function split(text: JsonText | null): { total: number; data: JsonText } {
  const start = String(text?.slice(0, 100) ?? '');
  const [head, total] = /^\{\s*"total"\s*:\s*(\d+)\s*,\s*"data"\s*:\s*/.exec(start) ?? [];
  if (text === null || head === undefined) throw failure.forbidden();
  return { total: Number(total), data: text.slice(head.length, -1) };
}

/** `GET /api/posts/:id`. With `If-None-Match`, an unchanged row is sent without a body. */
export async function get(request: RestRequest, key: string): Promise<RestAnswer> {
  const { served, query, koa } = request;
  assertKnown(query, (name) => SHAPE_WORDS.has(name));
  const text = served.isOwn('get')
    ? await askOwnGet(request, key)
    : await readRootText(request, rowRequest(request, addedNames.get(served.module), key));
  if (text === null) throw notFound(request);
  if (request.failed.length > 0) return { status: 200, text };
  const tag = etagOf(text);
  const known = koa.get('If-None-Match');
  if (known !== '' && hasTag(known, tag, true)) return { status: 304, headers: { ETag: tag } };
  return { status: 200, text, headers: { ETag: tag } };
}

/** The query for one row by its key, through the root field `name`. */
export function rowRequest(request: RestRequest, name: string, key: string): RootFieldRequest {
  const operation = rowsOperation(request, name, { args: ['id'] });
  return { operation, variables: { id: key }, coerced: true };
}
