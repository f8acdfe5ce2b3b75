import { failure } from '@twofold/runtime/errors';
import type { Fields, Translated } from './dialect.ts';
import type { ErrorForm } from './failures.ts';
import { readMessages, translate } from './messages/read-messages.ts';
import { readCompletion, readVectors } from './openai-dialect.ts';
import { readResponse } from './responses/read-responses.ts';

/** One path below `/api/mlx/v1`. */
export interface GatewayRoute {
  readonly form: ErrorForm;
  /** Whether only the tokens of the request are asked for. */
  readonly counts?: boolean;
  read(fields: Fields): Translated;
}

const ROUTES: Readonly<Record<string, GatewayRoute>> = {
  'chat/completions': {
    form: 'openai',
    read: (fields) => readCompletion('chat/completions', fields),
  },
  completions: { form: 'openai', read: (fields) => readCompletion('completions', fields) },
  responses: { form: 'openai', read: readResponse },
  embeddings: { form: 'openai', read: (fields) => readVectors('embeddings', fields) },
  rerank: { form: 'openai', read: (fields) => readVectors('rerank', fields) },
  messages: { form: 'anthropic', read: readMessages },
  'messages/count_tokens': { form: 'anthropic', counts: true, read: translate },
};

/** The form of errors on a path, also where there is no such route. */
export const formOf = (path: string): ErrorForm =>
  path.startsWith('messages') ? 'anthropic' : 'openai';

/** @throws AppError 404 */
export function routeOf(path: string): GatewayRoute {
  const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
  if (route) return route;
  throw failure.notFound(`There is no /api/mlx/v1/${path.slice(0, 100)}`);
}
