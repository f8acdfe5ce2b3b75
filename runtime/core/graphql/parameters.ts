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

/** The media types of an answer, best first. */
export type Answering =
  | 'application/graphql-response+json'
  | 'application/json'
  | 'text/html'
  | 'text/event-stream';

const OFFERED: readonly Answering[] = [
  'application/graphql-response+json',
  'application/json',
  'text/event-stream',
  'text/html',
];

/** The media types for a client that accepts everything, best first. */
const OFFERED_FOR_ALL: readonly Answering[] = [
  'application/json',
  'application/graphql-response+json',
];

/**
 * The media type of the answer: the accepted one with the highest `q`, the first of equal ones;
 * `application/json` for a client that accepts everything or does not say. Undefined when it
 * accepts none of ours.
 */
export function negotiate(accept: string | undefined, html: boolean): Answering | undefined {
  if (!accept || accept === '*/*') return 'application/json';
  if (accept === 'application/json' || accept === 'application/graphql-response+json')
    return accept;
  const all = accept.split(',').map(readRange);
  const ranges = all.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q);
  const refused = new Set(all.filter(({ q }) => q === 0).map(({ type }) => type));
  for (const { type } of ranges) {
    // RFC 9110, section 12.5.1: a specific type with q=0 is excluded from a range that includes it.
    if (type === '*/*' || type === 'application/*')
      return OFFERED_FOR_ALL.find((candidate) => !refused.has(candidate));
    const offered = OFFERED.find((candidate) => candidate === type);
    if (offered && (offered !== 'text/html' || html)) return offered;
  }
  return undefined;
}

function readRange(text: string): { readonly type: string; readonly q: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) return { type, q: 0 };
  const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
  return { type, q: Number.isNaN(q) ? 0 : q };
}
