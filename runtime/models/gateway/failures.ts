import { AppError } from '@twofold/runtime/errors';

/** The two forms of errors that clients of language models read. */
export type ErrorForm = 'openai' | 'anthropic';

/** A refusal with the field of the request that it is about. */
export function refusal(
  status: number,
  message: string,
  {
    param = null,
    code = null,
  }: { readonly param?: string | null; readonly code?: string | null } = {},
): AppError {
  return new AppError(status, 'MODEL_REQUEST', message, { extensions: { param, code } });
}

/** The refusal of a field. @param what what it must be */
export const malformed = (param: string, what: string): AppError =>
  refusal(400, `${param} ${what}`, { param });

/** The error of a field that this server or the engine does not have. */
export const unsupported = (param: string, engine?: string): AppError =>
  malformed(param, `is not supported${engine === undefined ? '' : ` by the ${engine} engine`}`);

/** The body of an error in the form that the caller's client reads. */
export function errorBody(form: ErrorForm, error: AppError): object {
  const { status, message } = error;
  if (form === 'anthropic')
    return { type: 'error', error: { type: anthropicType(status), message } };
  const { param = null, code = null } = error.extensions;
  return { error: { message, type: openAiType(status), code: code ?? codeOf(error), param } };
}

const codeOf = ({ code }: AppError) => (code === 'MODEL_REQUEST' ? null : code.toLowerCase());

function openAiType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

const anthropicType = (status: number) =>
  ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');

/** The error of an engine, from the status and the body of its answer. */
export function engineFailure(status: number, text: string): AppError {
  const { message, param, code } = readError(text);
  // The engine's own refusal of our key is no fault of the caller.
  const shown = status === 401 || status === 403 ? 502 : status;
  return refusal(shown, message ?? `The model answered with ${status}`, { param, code });
}

interface EngineError {
  readonly message: string | null;
  readonly param: string | null;
  readonly code: string | null;
}

function readError(text: string): EngineError {
  const asText = (value: unknown) => (typeof value === 'string' ? value : null);
  try {
    const body = JSON.parse(text) as { error?: unknown; message?: unknown };
    const error = (body.error ?? body) as Record<string, unknown>;
    const message = asText(body.error) ?? asText(error['message']);
    return { message, param: asText(error['param']), code: asText(error['code']) };
  } catch {
    return { message: null, param: null, code: null };
  }
}

/** The error of a model that ended while it answered. */
export const modelEnded = (cause: unknown): AppError =>
  new AppError(502, 'MODEL_FAILED', 'The model ended before it answered', { cause });

export const modelCut = (cause: unknown): AppError =>
  new AppError(502, 'MODEL_FAILED', 'The model ended before its answer was complete', { cause });

/** The error of a name that no model has. */
export const unknownModel = (name: string): AppError =>
  refusal(404, `The model ${name.slice(0, 200)} does not exist`, {
    param: 'model',
    code: 'model_not_found',
  });
