import { type Handler, reply } from '@twofold/runtime/http';
import { type Kernel, serviceOf } from '@twofold/runtime/kernel';

/** `POST /api/system/explain`: what the database would be asked for an operation. */
export function explainOperation({ store }: Kernel): Handler {
  return async ({ body, context }) => {
    const explained = await serviceOf(store, 'explain')(body, context);
    if (!('refused' in explained)) return reply(200, explained);
    const { refused } = explained;
    return reply(400, { error: refused[0]?.message ?? 'Bad request', errors: refused });
  };
}
