import type { Operation } from '@twofold/schema';
import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLInputObjectType,
} from 'graphql';
import type { Context } from 'koa';
import { failure } from '../errors.ts';
import type { WriteAction } from '../data/write/write-action.ts';
import {
  INPUT_VALUES,
  inputSize,
  isNestedBeyond,
  NESTING,
  tooLarge,
} from '../graphql/input-size.ts';
import { readBody } from '../http/read-body.ts';

export type Values = Readonly<Record<string, unknown>>;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

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
  schema: GraphQLSchema,
  operation: Operation,
  body: Values,
  id?: string,
): Record<string, unknown> {
  const action = operation.action as Write;
  const declared = argumentsOf(schema, operation);
  const key = keyPath(action);
  const given = id === undefined ? body : withoutOwnId(body, id, action, declared);
  const args = place(action, given, key, keyValue(declared, key, id));
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
 * @example coerceArguments(schema, createPost, { input: { views: 1 } }) // as a resolver gets them
 */
export function coerceArguments(
  schema: GraphQLSchema,
  operation: Operation,
  args: Values,
): Record<string, unknown> {
  const given = argumentsOf(schema, operation).filter(({ name }) => args[name] !== undefined);
  return Object.fromEntries(
    given.map(({ name, type }) => [name, coerceInputValue(args[name], type)]),
  );
}

const argumentsOf = (schema: GraphQLSchema, { name }: Operation): readonly GraphQLArgument[] =>
  schema.getMutationType()?.getFields()[name]?.args ?? [];

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

function checkArgument(
  { name, type, defaultValue, default: given }: GraphQLArgument,
  value: unknown,
  whole: boolean,
): void {
  if (value === undefined && (defaultValue !== undefined || given !== undefined)) return;
  check(type, value, whole ? '' : name);
}

/** Checks the value. Errors name fields as in the body, with dots for nested ones. */
function check(type: GraphQLInputType, value: unknown, path: string): void {
  if (isNonNullType(type)) {
    if (value === undefined || value === null) throw failure.badRequest(`${path} is required`);
    return check(type.ofType, value, path);
  }
  if (value === undefined || value === null) return;
  if (isListType(type))
    return [value]
      .flat()
      .forEach((item, index) =>
        check(type.ofType, item, Array.isArray(value) ? `${path}.${index}` : path),
      );
  if (isInputObjectType(type)) return checkObject(type, value, path);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    if (typeof value !== 'string' || !names.includes(value))
      throw failure.badRequest(`${path} must be one of ${names.join(', ')}`);
    return;
  }
  if (!accepts(() => type.coerceInputValue(value)))
    throw failure.badRequest(`${path} is not a valid ${type.name}`);
}

function checkObject(type: GraphQLInputObjectType, value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw failure.badRequest(`${path} must be an object`);
  const fields = type.getFields();
  const pathOf = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const field of Object.values(fields)) {
    const given = (value as Record<string, unknown>)[field.name];
    if (given !== undefined || isRequiredInputField(field))
      check(field.type, given, pathOf(field.name));
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined)
    throw failure.badRequest(`${pathOf(unknown.slice(0, 64))} is not a known field`);
  if (type.isOneOf && Object.values(value).filter((given) => given !== null).length !== 1)
    throw failure.badRequest(
      `${path === '' ? 'the body' : path} must have exactly one of ${Object.keys(fields).join(', ')}`,
    );
}

function accepts(coerce: () => unknown): boolean {
  try {
    return coerce() !== undefined;
  } catch {
    return false;
  }
}
