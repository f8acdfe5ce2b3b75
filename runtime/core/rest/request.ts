import type { Readable } from 'node:stream';
import { type Operation, restArguments, type RestVerb, type Verb } from '@twofold/schema';
import type { GraphQLArgument } from 'graphql';
import type { Context } from 'koa';
import { failure } from '../errors.ts';
import type { JsonText } from '../store/large-text.ts';
import type { Cut } from '../graphql/operation-run.ts';
import type { RequestContext } from '../context/request-context.ts';
import { createRules, refusal, rootAccess, type Rules } from '../data/access/access.ts';
import { stored } from '../data/sql/stored-as.ts';
import { toStored } from '../data/sql/values.ts';
import type { RestService, ServedModule } from './service.ts';
import type { QueryString } from './field-selection.ts';

/** One request to a module. */
export interface RestRequest {
  readonly service: RestService;
  readonly served: ServedModule;
  readonly operation: Operation;
  /** The arguments of the operation. */
  readonly declared: readonly GraphQLArgument[];
  readonly rules: Rules;
  readonly query: QueryString;
  readonly context: RequestContext;
  readonly koa: Context;
  /** Collects the paths of fields that failed and are left out. */
  readonly failed: string[];
  /** Collects the lists that have more rows than the answer shows. */
  readonly cuts: Cut[];
}

/** An answer whose body is JSON text. */
export interface RestAnswer {
  readonly status: number;
  readonly text?: JsonText;
  /** The body in another form than JSON, and its media type. */
  readonly stream?: Readable;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const VERBS: Readonly<Record<RestVerb, Verb>> = {
  list: 'READ',
  get: 'READ',
  create: 'CREATE',
  update: 'UPDATE',
  remove: 'DELETE',
};

/**
 * Finds the operation and the rules of a request. A caller who may not run it is refused before
 * anything is read.
 *
 * @throws AppError 401, 403
 */
export function openRequest(
  service: RestService,
  served: ServedModule,
  verb: RestVerb,
  koa: Context,
): RestRequest {
  const operation = served.module[verb];
  if (!operation) throw failure.notFound();
  const context = service.callerOf(koa.state['context'] as RequestContext);
  const { model, schema } = service.engine;
  const declared = restArguments(schema, served.module, verb);
  const rules = createRules(model, context.principal);
  const own = rules.operation(operation, VERBS[verb]);
  const access = served.isOwn(verb)
    ? own
    : rootAccess(model, rules, own, served.module.entity.name, VERBS[verb]);
  if (access.kind === 'none') throw refusal(access.code);
  const asked = { service, served, operation, declared, rules, context };
  return { ...asked, query: koa.query, koa, failed: [], cuts: [] };
}

/** Parses the key in a path. @throws AppError 400 `Invalid id format` */
export function readKey(
  { engine }: RestService,
  { module }: ServedModule,
  segment: string,
): string {
  const text = decode(segment);
  const entity = engine.model.entity(module.entity.name);
  const local =
    entity.global && text.startsWith(`${entity.entity.name}:`)
      ? text.slice(entity.entity.name.length + 1)
      : text;
  // A key that another program chose may have any form. For our own keys, a malformed one is a row
  // that does not exist.
  const id = entity.columns.get('id');
  if (id?.parts || id?.key) return text;
  const isKey = engine.model.ids === 'uuid' || /^\d+$/.test(local);
  if (
    !isKey ||
    toStored(text, stored(engine.model, entity, 'id'), engine.model.ids, engine.store.dialect) ===
      null
  )
    throw failure.badRequest('Invalid id format');
  return text;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw failure.badRequest('Invalid id format');
  }
}

export const notFound = ({ served }: RestRequest) =>
  failure.notFound(`${served.module.entity.name} not found`);
