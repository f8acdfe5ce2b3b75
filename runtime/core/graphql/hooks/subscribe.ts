import type { AfterEvent, GraphqlHooks } from '../../plugin.ts';
import type { Response } from '../response.ts';
import type { StartCompanion } from '../service.ts';
import { executeCallOf } from './execute.ts';
import { callHook } from './order.ts';
import { HookedResult } from './result.ts';

/** Runs `onSubscribe` with each subscription; undefined when no plugin has it. */
export function subscribeHooks(plugins: readonly GraphqlHooks[]): StartCompanion | undefined {
  const hooks = plugins.flatMap(({ onSubscribe }) => onSubscribe ?? []);
  if (hooks.length === 0) return undefined;
  return async (call) => {
    const { operationType: _, ...given } = executeCallOf(call);
    const after: AfterEvent[] = [];
    for (const hook of hooks) {
      const returned = await callHook(() => hook(given));
      if (returned) after.unshift(returned);
    }
    return {
      event: async (answer, context) => {
        const response = await answer();
        return response && throughAll(after, new HookedResult(response, context));
      },
    };
  };
}

/** The event after all functions; undefined when one of them drops it. */
async function throughAll(
  after: readonly AfterEvent[],
  done: HookedResult,
): Promise<Response | undefined> {
  for (const each of after) {
    const hooked = {
      get event() {
        return done.result;
      },
    };
    const event = await callHook(() => each(hooked));
    if (event === null || event === undefined) return undefined;
    if (event !== done.result) done.result = event;
  }
  return done.response;
}
