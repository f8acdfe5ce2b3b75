import { coerceInputValue, getNamedType, type GraphQLArgument, isInputObjectType } from 'graphql';
import type { Context } from 'koa';
import { failure } from '../errors.ts';
import type { WriteAction } from '../data/write/write-action.ts';
import {
  INPUT_VALUES,
  inputSize,
  isNestedBeyond,
  NESTING,
  tooLarge,
  ownMembers,
} from '../graphql/input-size.ts';
import { findProblems } from '../graphql/input-types.ts';
import { readBody } from '../http/read-body.ts';
import { JSON_TYPE } from '../routes/body.ts';
import type { RestRequest } from './request.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Reads a JSON object. @throws AppError 400 `Invalid JSON`, 413, 415 */
export async function readObject(ctx: Context, limit: number): Promise<Values> {
  if (!JSON_TYPE.test(ctx.get('Content-Type'))) throw failure.unsupportedMediaType();
  const text = await readBody(ctx.req, limit).catch((error: unknown) => {
    throw (error as { status?: number }).status === 413 ? failure.tooLarge() : error;
  });
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw failure.badRequest('The body must be a JSON object');
  if (isNestedBeyond(body, NESTING))
    throw failure.badRequest(`The body is nested more than ${NESTING} levels deep`);
  return body as Values;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw failure.badRequest('Invalid JSON');
  }
}

type Write = Extract<WriteAction, { kind: 'create' | 'update' }>;

const keyPath = (action: Write) => (action.kind === 'update' && action.id) || [];

/**
 * Reads a body as the arguments of the corresponding root field: the fields of its input object, or
 * its arguments. Types are those of GraphQL.
 *
 * @throws AppError 400 that names the field: `title is required`, `title is not a known field`,
 * `views is not a valid Int`.
 */
export function readArguments(
  { service, operation, declared }: RestRequest,
  body: Values,
  id?: string,
): Record<string, unknown> {
  const action = operation.action as Write;
  const { schema } = service.engine;
  const key = keyPath(action);
  const given = id === undefined ? body : withoutOwnId(body, id, action, declared);
  const args = ownMembers(schema, place(action, given, key, keyValue(declared, key, id)));
  assertSize(declared, args);
  for (const argument of declared)
    checkArgument(argument, args[argument.name], action.input === argument.name);
  if (action.input !== undefined) return args;
  const unknown = Object.keys(given).find(
    (name) => !declared.some((argument) => argument.name === name) || name === key[0],
  );
  if (unknown !== undefined) throw failure.badRequest(`${unknown} is not a known field`);
  return args;
}

function assertSize(declared: readonly GraphQLArgument[], args: Values): void {
  let counted = 0;
  for (const { name, type } of declared) counted = inputSize(args[name], type, counted);
  if (counted > INPUT_VALUES) throw failure.badRequest(tooLarge('The body'));
}

/**
 * @example coerceArguments(declared, { input: { views: 1 } }) // as a resolver gets them
 */
export function coerceArguments(
  declared: readonly GraphQLArgument[],
  args: Values,
): Record<string, unknown> {
  const given = declared.filter(({ name }) => args[name] !== undefined);
  return Object.fromEntries(
    given.map(({ name, type }) => [name, coerceInputValue(args[name], type)]),
  );
}

/** Drops the object's own key, so that clients may send back an object that they received. */
function withoutOwnId(
  body: Values,
  id: string,
  action: Write,
  declared: readonly GraphQLArgument[],
): Values {
  if (!('id' in body) || acceptsId(action, declared)) return body;
  const { id: sent, ...rest } = body;
  if (String(sent) !== id) throw failure.badRequest('id is not the one in the path');
  return rest;
}

/** Whether `id` is a writable field, because the argument with the key has another name. */
function acceptsId(action: Write, declared: readonly GraphQLArgument[]): boolean {
  const [keyArgument] = keyPath(action);
  return (
    action.input === undefined && declared.some(({ name }) => name === 'id') && keyArgument !== 'id'
  );
}

/** Converts the key of the path to the type of its argument: a number where that is an `Int`. */
export function keyValue(
  declared: readonly GraphQLArgument[],
  [name, part]: readonly string[],
  id: string | undefined,
): string | number | undefined {
  const type = getNamedType(declared.find((argument) => argument.name === name)?.type);
  const inner = part !== undefined && isInputObjectType(type) ? type.getFields()[part]?.type : type;
  return id !== undefined && getNamedType(inner)?.name === 'Int' ? Number(id) : id;
}

function place(
  action: Write,
  body: Values,
  key: readonly string[],
  id: string | number | undefined,
): Record<string, unknown> {
  if (action.input === undefined) return { ...body, ...(key[0] !== undefined && { [key[0]]: id }) };
  if (key.length === 2) return { [action.input]: { ...body, [key[1] as string]: id } };
  const { members, beside } = apart(body, action.beside ?? []);
  return { [action.input]: members, ...beside, ...(key[0] !== undefined && { [key[0]]: id }) };
}

/** A body has the arguments beside the input among its members. */
function apart(body: Values, names: readonly string[]): { members: Values; beside: Values } {
  if (names.length === 0) return { members: body, beside: {} };
  const entries = Object.entries(body);
  return {
    members: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
    beside: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
  };
}

/** @throws AppError 400 that names the argument */
export function checkArgument(
  { name, type, defaultValue, default: given }: GraphQLArgument,
  value: unknown,
  whole: boolean,
): void {
  if (value === undefined && (defaultValue !== undefined || given !== undefined)) return;
  const [problem] = findProblems(type, value, whole ? '' : name);
  if (problem) throw failure.badRequest(problem.message);
}
