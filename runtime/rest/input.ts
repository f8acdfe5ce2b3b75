import { coerceInputValue, type GraphQLArgument, type GraphQLError, type GraphQLInputType, type GraphQLSchema, isNonNullType, validateInputValue } from 'graphql';
import type { Operation } from '@twofold/schema';
import { failure } from '../errors.ts';
import { isJsonBody, readBody } from '../http/read-body.ts';
import type { WriteAction } from '../data/write-action.ts';
import type { Context } from 'koa';

type Body = Readonly<Record<string, unknown>>;

/** Reads a JSON object. @throws AppError 400, 413, 415 */
export async function readObject(ctx: Context, limit: number): Promise<Body> {
  if (!isJsonBody(ctx.req.headers['content-type'])) throw failure.unsupportedMediaType();
  const body = parse(await readBody(ctx.req, limit));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw failure.badRequest('The body must be a JSON object');
  return body as Body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure.badRequest('Invalid JSON');
  }
}

/**
 * A body as the arguments of the root field that does the same, checked by the very types that GraphQL has for them.
 *
 * @throws AppError 400 `title is required`, `title …`
 */
export function readInput(schema: GraphQLSchema, operation: Operation, body: Body, id?: string): Record<string, unknown> {
  const action = operation.action as Exclude<WriteAction, { kind: 'remove' }>;
  const declared = schema.getMutationType()?.getFields()[operation.name]?.args ?? [];
  const path = action.kind === 'update' ? action.id : [];
  const args: Record<string, unknown> = {};
  for (const argument of declared) {
    if (argument.name === path[0] && path.length === 1) args[argument.name] = id;
    else if (argument.name === action.input) args[argument.name] = coerce(argument, path.length > 1 ? { ...body, [path[1] as string]: id } : body);
    else if (action.input === undefined) coerceMember(args, argument, body);
  }
  if (action.input === undefined) assertKnown(body, declared, path[0]);
  return args;
}

function coerceMember(args: Record<string, unknown>, argument: GraphQLArgument, body: Body): void {
  const value = body[argument.name];
  if (value === undefined && isNonNullType(argument.type) && argument.default === undefined) throw failure.badRequest(`${argument.name} is required`);
  if (value !== undefined) args[argument.name] = coerce(argument, value, argument.name);
}

function assertKnown(body: Body, declared: readonly GraphQLArgument[], key: string | undefined): void {
  const unknown = Object.keys(body).find((name) => name === key || !declared.some((argument) => argument.name === name));
  if (unknown !== undefined && unknown !== key) throw failure.badRequest(`${unknown} is not a known field`);
}

function coerce({ type }: { readonly type: GraphQLInputType }, value: unknown, name?: string): unknown {
  validateInputValue(value, type, (error, path) => refuse(error, [...(name === undefined ? [] : [name]), ...path]), true);
  return coerceInputValue(value, type);
}

/** The value itself stays out of the answer: it may be a secret. */
function refuse({ message }: GraphQLError, path: readonly (string | number)[]): never {
  const missing = /to include required field "(\w+)"/.exec(message);
  if (missing) throw failure.badRequest(`${[...path, missing[1]].join('.')} is required`);
  const unknown = /not to include unknown field "(\w+)"/.exec(message);
  if (unknown) throw failure.badRequest(`${[...path, unknown[1]].join('.')} is not a known field`);
  const field = path.join('.') || 'the body';
  if (/non-null/.test(message)) throw failure.badRequest(`${field} must not be null`);
  const type = (/of type "([^"]+)"/.exec(message) ?? /in "([^"]+)" enum/.exec(message))?.[1]?.replaceAll(/[![\]]/g, '');
  throw failure.badRequest(type ? `${field} is not a valid ${type}` : `${field} is not valid`);
}
