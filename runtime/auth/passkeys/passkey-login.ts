import { AppError, failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import type { Entry } from '../steps/entry.ts';
import { recordAttempt } from '../events/attempts.ts';
import { callerOf } from '../requests/caller.ts';
import { askHook, requireApiKey } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { isClosed } from '../users/user-directory.ts';
import { ClonedPasskey, reportClone, usePasskey } from './clones.ts';
import { type ProvenPasskey, provePasskey, type Unproven } from './prove.ts';

/** Signs in with a passkey alone: the assertion names the user. */
export async function signInByPasskey(parts: AuthParts, call: Call): Promise<Reply> {
  requireApiKey(parts, call.context);
  const proven = await provePasskey(parts, call.body.credential, 'passkey_login', null);
  if ('reason' in proven) return refuse(parts, call, proven);
  const refusal = await refusalOf(parts, call, proven);
  if (refusal) return refuse(parts, call, refusal.unproven, refusal.error);
  return open(parts, call, proven);
}

async function open(parts: AuthParts, call: Call, { account, passkey, used }: ProvenPasskey) {
  try {
    const entry: Entry = {
      account,
      method: 'passkey',
      amr: ['hwk', 'user'],
      goal: { kind: 'session', status: 200 },
      writes: (trx) => usePasskey(parts, trx, { account, passkey, used }),
    };
    return await advance(parts, call, forClient(entry, call.body));
  } catch (error) {
    if (!(error instanceof ClonedPasskey)) throw error;
    await reportClone(parts, call, { account, passkey, used });
    return refuse(parts, call, { reason: 'cloned', userId: account.id });
  }
}

/**
 * The reason why a user may not sign in although their passkey is right. Only the hook's own error
 * is shown.
 */
async function refusalOf(
  parts: AuthParts,
  { context }: Call,
  { account }: ProvenPasskey,
): Promise<{ unproven: Unproven; error?: AppError } | null> {
  const unproven = (reason: string) => ({ unproven: { reason, userId: account.id } });
  if (isClosed(account)) return unproven('disabled');
  if (parts.model.requireVerifiedEmail && !account.emailVerified) return unproven('unverified');
  const error = await askHook(parts, account, context);
  return error && { ...unproven('hook_denied'), error };
}

/** Records the failure. Every one is answered alike. @throws AppError 401 */
async function refuse(
  parts: AuthParts,
  { context }: Call,
  { reason, userId }: Unproven,
  error: AppError = failure.unauthenticated('Invalid credentials'),
): Promise<never> {
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await recordAttempt(trx, parts.kernel, caller, {
      kind: 'passkey',
      outcome: 'failure',
      reason,
      identifierHash: null,
      identifier: null,
      userId,
      sessionId: null,
    });
    emit('auth.login.failed', userId, { reason, method: 'passkey' });
  });
  parts.alerts.observe({ caller, identifierHash: null, userId });
  throw error;
}
