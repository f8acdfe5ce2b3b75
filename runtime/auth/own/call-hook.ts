import { AppError, failure } from '@twofold/runtime/errors';
import { asSystem, type Kernel, type RequestContext } from '@twofold/runtime/kernel';
import type { AuthHooks, HookRequest, HookUser } from '../auth-hooks.ts';

interface HookParts {
  readonly hooks: AuthHooks;
  readonly kernel: Kernel;
}

/** The request as hooks see it. */
export const hookRequest = ({ id, ip, headers }: RequestContext): HookRequest => ({
  id,
  ip,
  headers,
});

/**
 * Calls a hook that may refuse.
 *
 * @throws AppError the hook's own, or 403 for any other error, which is logged.
 */
export async function callHook<Answer>(
  { kernel }: HookParts,
  name: string,
  context: RequestContext,
  hook: (ctx: RequestContext) => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    return await hook(asSystem(kernel, context));
  } catch (error) {
    if (error instanceof AppError) throw error;
    kernel.log.error(
      { requestId: context.id, stack: error instanceof Error ? error.stack : String(error) },
      `the hook ${name} failed`,
    );
    throw failure.forbidden();
  }
}

/** Calls `afterLogin` inside the transaction that opens the session. */
export async function afterLogin(
  parts: HookParts,
  context: RequestContext,
  user: HookUser,
): Promise<void> {
  const { afterLogin: hook } = parts.hooks;
  if (!hook) return;
  const request = hookRequest(context);
  await callHook(parts, 'afterLogin', context, (ctx) => hook({ user, request, ctx }));
}
