import { stream } from '@twofold/schema';
import type { Call } from '@twofold/runtime/http';
import { flow, type ModelState, ON_MODEL } from './flow.ts';

const openAi = {
  needs: 'models:read',
  summary: 'Forwards a call of the OpenAI API to the running model',
  answers: {
    200: ['The response of the OpenAI API; `text/event-stream` when `stream` is true'],
  },
  refuses: [...ON_MODEL, 413, 429, 502, 503],
  handle: (call: Call, { gateway }: ModelState) => gateway.pass(call),
} as const;

export const askModel = flow('GET /api/mlx/v1/*path', openAi);

export const promptModel = flow('POST /api/mlx/v1/*path', {
  ...openAi,
  body: stream('application/json', { type: 'object' }),
});
