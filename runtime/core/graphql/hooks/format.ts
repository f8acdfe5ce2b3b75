import type { RequestContext } from '../../context/request-context.ts';
import type { GraphqlHooks } from '../../plugin.ts';
import { failedResponse, type ShownError } from '../response.ts';
import type { Leave } from '../service.ts';

type FormatError = NonNullable<GraphqlHooks['formatError']>;

/** Passes each error of an answer through `formatError`; undefined when no plugin has it. */
export function formatHooks(plugins: readonly GraphqlHooks[]): Leave | undefined {
  const hooks = plugins.flatMap(({ formatError }) => formatError ?? []);
  if (hooks.length === 0) return undefined;
  return (response, context) => {
    const { failed, refused } = response;
    if (!failed || failed.errors.length === 0) return response;
    return Promise.all(failed.errors.map((shown) => formatted(hooks, shown, context))).then(
      (errors) => failedResponse({ ...failed, errors }, refused),
    );
  };
}

async function formatted(
  hooks: readonly FormatError[],
  shown: ShownError,
  ctx: RequestContext,
): Promise<ShownError> {
  let { formatted: current } = shown;
  const { error } = shown;
  try {
    for (const hook of hooks) current = await hook(current, { error, ctx });
    return { formatted: current, error };
  } catch (thrown) {
    const stack = thrown instanceof Error ? thrown.stack : String(thrown);
    ctx.log.error({ requestId: ctx.id, stack }, 'formatError of a plugin failed');
    return shown;
  }
}
