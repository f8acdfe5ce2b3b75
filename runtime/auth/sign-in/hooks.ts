import { AppError, failure, InternalError } from '@twofold/runtime/errors';
import { asSystem, type RequestContext, systemContext } from '@twofold/runtime/kernel';
import type { AuthState } from '../state.ts';
import { type HookRequest, type HookUser, hookUser } from '../auth-hooks.ts';
import { profileOf } from '../users/profile.ts';
import type { Trx } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import { readRegisterFields } from './register-fields.ts';

/** The request that makes a user; absent where no request does, as on the command line. */
export interface Registering {
  readonly context: RequestContext;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Hooks do not see the password. */
function shown(body: Registering['body']): Registering['body'] {
  const { password: _, ...rest } = body;
  return rest;
}

/**
 * Calls `beforeRegister`. @returns columns of the row to be made, with their values.
 *
 * @throws AppError the hook's refusal, or 400 for a value that does not fit its field.
 */
export async function beforeRegister(
  auth: AuthState,
  { context, body }: Registering,
): Promise<Record<string, unknown>> {
  const { beforeRegister: hook } = auth.hooks;
  if (!hook) return {};
  const request = hookRequest(context);
  const given = await callHook(auth, 'beforeRegister', context, (ctx) =>
    hook({ body: shown(body), request, ctx }),
  );
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const { project } = auth;
  return readRegisterFields(project, auth.model.user.entity, Object.keys(values), values);
}

/** Calls `afterRegister` inside the transaction that makes the user. */
export async function afterRegister(
  auth: AuthState,
  trx: Trx,
  userId: UserId,
  { context, body }: Registering = { context: systemContext(auth), body: {} },
): Promise<void> {
  const { afterRegister: hook } = auth.hooks;
  if (!hook) return;
  const user = await userOf(auth, trx, userId);
  const request = hookRequest(context);
  await callHook(auth, 'afterRegister', context, (ctx) =>
    hook({ user, body: shown(body), request, ctx }),
  );
}

async function userOf(auth: AuthState, trx: Trx, userId: UserId): Promise<HookUser> {
  const account = await auth.directory.find(trx, userId);
  if (!account) throw new InternalError('a user who has just been made is gone');
  return hookUser(account, profileOf(auth, account));
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
  auth: AuthState,
  name: string,
  context: RequestContext,
  hook: (ctx: RequestContext) => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    return await hook(asSystem(auth, context));
  } catch (error) {
    if (error instanceof AppError) throw error;
    auth.log.error(
      { requestId: context.id, stack: error instanceof Error ? error.stack : String(error) },
      `the hook ${name} failed`,
    );
    throw failure.forbidden();
  }
}

/** Calls `afterLogin` inside the transaction that opens the session. */
export async function afterLogin(
  auth: AuthState,
  context: RequestContext,
  user: HookUser,
): Promise<void> {
  const { afterLogin: hook } = auth.hooks;
  if (!hook) return;
  const request = hookRequest(context);
  await callHook(auth, 'afterLogin', context, (ctx) => hook({ user, request, ctx }));
}
