import { AppError, failure } from '../errors.ts';
import { isNestedBeyond, NESTING } from './input-size.ts';

/** What a request asks for. See "GraphQL over HTTP", section "Request Parameters". */
export interface Parameters {
  readonly query: string | undefined;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly documentId: string | undefined;
}

/** @throws AppError 400 when a member is of the wrong type. */
export function readParameters(source: Readonly<Record<string, unknown>>): Parameters {
  return {
    query: text(source, 'query'),
    operationName: text(source, 'operationName'),
    variables: map(source, 'variables'),
    extensions: map(source, 'extensions'),
    documentId: text(source, 'documentId'),
  };
}

/** Reads the parameters of a GET, where objects are JSON in the query string. */
export function readQueryParameters(query: URLSearchParams): Parameters {
  const source = Object.fromEntries(query);
  for (const name of ['variables', 'extensions'])
    if (source[name]) source[name] = parseJson(source[name], name);
  return readParameters(source);
}

/** @throws AppError 400 `INVALID_JSON` */
export function parseJson(text: string, what: string): any {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError(400, 'INVALID_JSON', `${what} is not valid JSON`);
  }
}

function text(source: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = source[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw failure.badRequest(`${name} must be a string`);
  return value;
}

function map(
  source: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = source[name];
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw failure.badRequest(`${name} must be an object`);
  if (isNestedBeyond(value, NESTING))
    throw new AppError(400, 'TOO_DEEP', `${name} is nested more than ${NESTING} levels deep`, {
      extensions: { limit: NESTING },
    });
  return value as Record<string, unknown>;
}
