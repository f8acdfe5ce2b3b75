import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { AppError } from '../errors.ts';
import { logRefusal } from '../http/error-boundary.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { AnswerLimits } from '../store/bounds.ts';
import { hasMoreBytes, joinTexts, type JsonText } from '../store/large-text.ts';
import { formatError, toGraphqlError } from './errors.ts';
import type { Answer, Cut } from './operation-run.ts';
import { limitError } from '@twofold/schema';

/** The answer as JSON text. `refused`: the request was not run, which decides the status. */
export interface Response {
  readonly text: JsonText;
  readonly refused: false | 'request' | 'limit';
  /** The errors of `text`, and the members beside them; absent without errors. */
  readonly failed?: Failed;
}

/** The parts of an answer with errors. */
export interface Failed {
  readonly errors: readonly ShownError[];
  readonly data?: unknown;
  readonly extensions?: Record<string, unknown>;
}

/** An error as the caller sees it, and the error itself. */
export interface ShownError {
  readonly formatted: GraphQLFormattedError;
  readonly error: GraphQLError;
}

/** Errors of a request that was not run. */
export class RequestErrors extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('request errors');
    this.errors = errors;
  }
}

/** The errors as the caller sees them. What is masked is logged, and what was refused. */
export function showErrors(
  errors: readonly GraphQLError[],
  context: Pick<RequestContext, 'id' | 'log'>,
): ShownError[] {
  const { id: requestId, log } = context;
  const all = errors.map((error) => ({ formatted: formatError(error, { requestId, log }), error }));
  const refused = all.filter(({ formatted: { extensions } }) =>
    ['FORBIDDEN', 'UNAUTHENTICATED'].includes(String(extensions?.['code'])),
  );
  const paths = refused.slice(0, 5).map(({ formatted }) => formatted.path?.join('.'));
  if (refused.length > 0) logRefusal(log, context, { paths, count: refused.length });
  return all;
}

/** The answer to a request that was not run. */
export function refuse(errors: readonly GraphQLError[], context: RequestContext): Response {
  const limit = errors.some(({ extensions }) => extensions['limit'] !== undefined);
  return failedResponse({ errors: showErrors(errors, context) }, limit ? 'limit' : 'request');
}

/** What the caller gets of an answer; the lists that were cut are an extension of it. */
export function shownAnswer(
  answer: Answer,
  cut: readonly Cut[],
  context: RequestContext,
): Response {
  if ('text' in answer) {
    const { text } = answer;
    if (cut.length === 0) return { text, refused: false };
    const more = `,"extensions":${JSON.stringify({ cut })}}`;
    return { text: joinTexts([text.slice(0, -1), more]), refused: false };
  }
  const { errors = [], ...rest } = answer.result;
  const shown = { ...rest, errors: showErrors(errors, context) };
  return failedResponse(cut.length === 0 ? shown : { ...shown, extensions: { cut } });
}

/** An answer with errors. */
export function failedResponse(failed: Failed, refused: Response['refused'] = false): Response {
  const { errors, data, extensions } = failed;
  const formatted = errors.map((each) => each.formatted);
  return {
    text: JSON.stringify({
      ...(formatted.length > 0 && { errors: formatted }),
      data,
      extensions,
    }),
    refused,
    failed,
  };
}

/** The error of an answer that is larger than `api.limits.result`. */
export function tooLarge(
  { text }: Response,
  { result: limit }: Pick<AnswerLimits, 'result'>,
): GraphQLError | undefined {
  if (!hasMoreBytes(text, limit)) return undefined;
  const value = typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;
  return limitError('RESULT_TOO_LARGE', `the result has more than ${limit} bytes`, {
    value,
    limit,
  });
}

/** The errors in a value that was thrown before the operation ran. */
export function errorsOf(thrown: unknown): readonly GraphQLError[] {
  return thrown instanceof RequestErrors ? thrown.errors : [toGraphqlError(thrown)];
}

/** The status of a request that was not run. */
export function statusOf(thrown: unknown): number | undefined {
  return thrown instanceof AppError ? thrown.status : undefined;
}
