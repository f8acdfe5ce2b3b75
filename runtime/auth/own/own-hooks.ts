import type { Trx } from '../tables.ts';
import { InternalError } from '@twofold/runtime/errors';
import { type RequestContext, systemContext } from '@twofold/runtime/kernel';
import { type HookUser, hookUser } from '../auth-hooks.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { readRegisterFields } from '../sign-in/register-fields.ts';
import { callHook, hookRequest } from './call-hook.ts';

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
  parts: AuthParts,
  { context, body }: Registering,
): Promise<Record<string, unknown>> {
  const { beforeRegister: hook } = parts.hooks;
  if (!hook) return {};
  const request = hookRequest(context);
  const given = await callHook(parts, 'beforeRegister', context, (ctx) =>
    hook({ body: shown(body), request, ctx }),
  );
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const { project } = parts.kernel;
  return readRegisterFields(project, parts.model.user.entity, Object.keys(values), values);
}

/** Calls `afterRegister` inside the transaction that makes the user. */
export async function afterRegister(
  parts: AuthParts,
  trx: Trx,
  userId: UserId,
  { context, body }: Registering = { context: systemContext(parts.kernel), body: {} },
): Promise<void> {
  const { afterRegister: hook } = parts.hooks;
  if (!hook) return;
  const user = await userOf(parts, trx, userId);
  const request = hookRequest(context);
  await callHook(parts, 'afterRegister', context, (ctx) =>
    hook({ user, body: shown(body), request, ctx }),
  );
}

async function userOf(
  { directory, signIn, kernel }: AuthParts,
  trx: Trx,
  userId: UserId,
): Promise<HookUser> {
  const account = await directory.find(trx, userId);
  if (!account) throw new InternalError('a user who has just been made is gone');
  return hookUser(account, signIn.profile(account, account.last_login ?? kernel.now()));
}
