import { parseExact } from '../data/sql/exact-json.ts';
import { type Operation, ownSize, type Returns } from '@twofold/schema';
import type { SelectionNode } from 'graphql';
import { failure } from '../errors.ts';
import { keyValue } from './body.ts';
import { connectionSelection, rowsOf } from './connections.ts';
import { clearLoaders } from '../graphql/loaders.ts';
import type { Page } from './query.ts';
import { readOperand } from './query.ts';
import { fieldNode, onType, prepareOperation } from './operations.ts';
import { readRootField, ROOT_KEY } from './read.ts';
import type { RestRequest } from './request.ts';
import { selectionOf } from './selection.ts';
import { readFieldSelection } from './field-selection.ts';

/**
 * Calls a root field that the user's own resolver answers, as GraphQL calls it: nothing is read or
 * written without the resolver.
 */
async function callField(
  request: RestRequest,
  args: Readonly<Record<string, unknown>>,
  below: () => readonly SelectionNode[] | undefined,
): Promise<string | null> {
  const { service, operation, query, rules } = request;
  const declared = request.declared.filter(({ name }) => args[name] !== undefined);
  const { root, name } = operation;
  const names = declared.map((each) => each.name);
  const form = [names, query['fields'], query['include']];
  const key = `${root} ${name} ${rules.callerClass} ${JSON.stringify(form)}`;
  return readRootField(request, {
    operation: service.operations(key, () => {
      const field = fieldNode(name, { as: ROOT_KEY, args: names, below: below() });
      return prepareOperation(field, root === 'mutation' ? root : 'query', declared);
    }),
    variables: Object.fromEntries(names.map((each) => [each, args[each]])),
  });
}

/** Calls the user's `post(id:)`, or `node(id:)`, whose key includes the type. */
export async function askOwnGet(request: RestRequest, key: string): Promise<string | null> {
  const { operation, served, query } = request;
  const { action } = operation;
  const { name } = served.module.entity;
  const selection = () => selectionOf(request, name, readFieldSelection(query));
  if (action.kind === 'node') {
    const text = await callField(
      request,
      { [action.arg]: key.startsWith(`${name}:`) ? key : `${name}:${key}` },
      () => [onType(name, selection())],
    );
    // `{}`: the object has another type, which has none of the selected fields.
    return text === '{}' ? null : text;
  }
  const arg = action.kind === 'get' ? (action.by[0]?.arg ?? 'id') : 'id';
  return callField(request, { [arg]: keyValue(request.declared, [arg], key) }, selection);
}

/** Calls the user's `posts`. It pages by the arguments that the schema declares; else it is cut here. */
export async function askOwnList(
  request: RestRequest,
  page: Page,
): Promise<{ total: number | null; data: string }> {
  const { service, operation, served, query } = request;
  if (operation.action.kind !== 'list') throw failure.notFound();
  const { paging, connection } = operation.action.list;
  const text = await callField(
    request,
    { ...filtersOf(request), ...pageArguments(paging, page) },
    () => {
      const row = selectionOf(request, served.module.entity.name, readFieldSelection(query));
      return connection ? connectionSelection(service.engine.schema, connection, row) : row;
    },
  );
  const answer = text === null ? null : parseExact(text);
  const rows = rowsOf(answer);
  const isPage = ownSize(paging) !== undefined;
  const from = isPage ? 0 : (page.page - 1) * page.limit;
  return {
    total: isPage ? (answer?.total ?? null) : rows.length,
    data: JSON.stringify(rows.slice(from, from + page.limit)),
  };
}

type ListAction = Extract<Operation['action'], { kind: 'list' }>;

/** Later pages need an offset. A resolver without such an argument serves only the first page. */
function pageArguments(paging: ListAction['list']['paging'], page: Page): Record<string, unknown> {
  const size = ownSize(paging);
  if (size === undefined) return {};
  const { offset, added = [] } = paging;
  const goesOn = offset !== undefined && !added.includes(offset);
  if (page.page > 1 && !goesOn) throw failure.badRequest('Invalid page number');
  return { [size]: page.limit, ...(goesOn && { [offset]: (page.page - 1) * page.limit }) };
}

function filtersOf({ service, served, query }: RestRequest): Record<string, unknown> {
  const given = [...served.filters.values()].filter(
    ({ parameter }) => query[parameter] !== undefined,
  );
  return Object.fromEntries(
    given.map((filter) => [
      filter.parameter,
      readOperand(service, filter, query[filter.parameter] as string),
    ]),
  );
}

/** The result of the user's `createPost`, `updatePost` or `deletePost`. */
export interface OwnWritten {
  /** The object as JSON text, when the mutation returns it. */
  readonly text: string | null;
  readonly id: string | null;
  /** False when the resolver reports that it found nothing to do. */
  readonly done: boolean;
}

export async function callOwnWrite(
  request: RestRequest,
  args: Readonly<Record<string, unknown>>,
): Promise<OwnWritten> {
  const { action } = request.operation;
  if (action.kind !== 'create' && action.kind !== 'update' && action.kind !== 'remove')
    throw failure.notFound();
  const returns = action.returns as OneReturned;
  const text = await callField(request, args, () =>
    returnSelection(request, returns, action.kind === 'remove'),
  );
  clearLoaders(request.context);
  return readReturn(returns, text === null ? null : parseExact(text));
}

/** What a mutation of one row returns: REST has no endpoint for mutations of many. */
type OneReturned = Exclude<Returns, { kind: 'rows' | 'count' }>;

function returnSelection(
  request: RestRequest,
  returns: OneReturned,
  removing: boolean,
): SelectionNode[] | undefined {
  if (returns.kind === 'id' || returns.kind === 'boolean') return undefined;
  const object = () =>
    removing
      ? [fieldNode('id')]
      : selectionOf(request, request.served.module.entity.name, readFieldSelection(request.query));
  if (returns.kind === 'entity') return object();
  const { entity, id, ok } = returns;
  return [
    fieldNode('__typename'),
    ...(entity ? [fieldNode(entity, { as: 'object', below: object() })] : []),
    ...(id ? [fieldNode(id, { as: 'id' })] : []),
    ...(ok ? [fieldNode(ok, { as: 'ok' })] : []),
  ];
}

function readReturn(returns: OneReturned, value: any): OwnWritten {
  switch (returns.kind) {
    case 'id':
      return { text: null, id: value === null ? null : String(value), done: value !== null };
    case 'boolean':
      return { text: null, id: null, done: value === true };
    case 'entity':
      return { text: value && JSON.stringify(value), id: value?.id ?? null, done: value !== null };
    case 'payload': {
      const done =
        value !== null &&
        value.ok !== false &&
        (returns.entity === undefined || value.object !== null);
      return {
        text: value?.object ? JSON.stringify(value.object) : null,
        id: value?.id ?? value?.object?.id ?? null,
        done,
      };
    }
  }
}
