import { graphqlPath } from '../../address.ts';
import { request } from '../../call.ts';
import { t } from '../../messages.ts';
import { eventsIn } from '../../parts/event-frames.ts';
import type { EditorProblem } from '../../parts/editor.tsx';

/** An operation that is sent. */
export interface SentOperation {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** One answer: of a query or a mutation, or one event of a subscription. */
export interface Answered {
  readonly text: string;
  readonly status: number;
  /** Milliseconds from the request on. */
  readonly took: number;
  readonly requestId: string | null;
}

/**
 * Sends an operation, and passes each answer on as it comes.
 *
 * @returns `ended` after the last answer; `cut` when the connection broke before it, or the server
 *   stopped.
 */
export async function run(
  asked: SentOperation,
  headers: Readonly<Record<string, string>>,
  { signal, subscribes, onAnswer }: RunOptions,
): Promise<'ended' | 'cut'> {
  const accept = subscribes
    ? 'text/event-stream'
    : 'application/graphql-response+json, application/json';
  const since = performance.now();
  const response = await request('POST', graphqlPath, asked, {
    signal,
    headers: { Accept: accept, ...headers },
  });
  const answer = (text: string): Answered => ({
    text,
    status: response.status,
    took: performance.now() - since,
    requestId: response.headers.get('X-Request-Id'),
  });
  if (!/event-stream/.test(response.headers.get('Content-Type') ?? '')) {
    onAnswer(answer(await response.text()));
    return 'ended';
  }
  return readEvents(response, signal, (text) => onAnswer(answer(text)));
}

interface RunOptions {
  readonly signal: AbortSignal;
  /** Whether the operation is a subscription. */
  readonly subscribes: boolean;
  onAnswer(answer: Answered): void;
}

/**
 * Reads the results of a stream in the form of "GraphQL over Server-Sent Events". Only the event
 * `complete` says that there are no more.
 */
async function readEvents(
  response: Response,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<'ended' | 'cut'> {
  try {
    for await (const events of eventsIn(response.body))
      for (const { event, data } of events) {
        signal.throwIfAborted();
        if (event === 'complete') return 'ended';
        if (event === 'next') onText(data);
      }
  } catch {
    signal.throwIfAborted();
  }
  return 'cut';
}

/**
 * An object as it was typed in a box; empty text is an empty one. @throws Error with a text for
 * people
 */
export function objectIn(text: string, name: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { message: reason } = error as Error;
    throw new Error(t('{name} is not valid JSON: {reason}', { name, reason }), { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as never;
  throw new Error(t('{name} must be a JSON object', { name }));
}

/** The characters of a header's name. RFC 9110 §5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Parses the headers that were typed. @throws Error. */
export function headersIn(text: string): Record<string, string> {
  const headers = objectIn(text, t('Headers'));
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw new Error(t('The header {name} must be text', { name }));
    if (!TOKEN.test(name) || /[\r\n\0]/.test(value))
      throw new Error(t('{name} cannot be sent as a header', { name }));
  }
  return headers as Record<string, string>;
}

/** Characters of an answer that is read for its errors. */
const READ = 1_000_000;

interface GraphqlError {
  readonly message?: unknown;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
}

/** The errors of an answer. */
export function errorsOf(text: string): readonly GraphqlError[] {
  if (text.length > READ && !text.startsWith('{"errors"')) return [];
  try {
    const { errors } = JSON.parse(text) as { errors?: readonly GraphqlError[] };
    return Array.isArray(errors) ? errors : [];
  } catch {
    return [];
  }
}

/** The positions of errors in the operation. */
export const marksOf = (errors: readonly GraphqlError[]): readonly EditorProblem[] =>
  errors.flatMap(({ message, locations = [] }) =>
    locations.map(({ line, column }) => ({ line, column, message: String(message) })),
  );
