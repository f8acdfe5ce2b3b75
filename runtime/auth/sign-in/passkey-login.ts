import { AppError, failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { noteAttempt } from '../events/attempts.ts';
import { callerOf } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { isClosed } from '../users/user-directory.ts';
import {
  ClonedPasskey,
  type ProvenPasskey,
  provePasskey,
  reportClone,
  type Unproven,
  usePasskey,
} from '../passkeys/prove.ts';
import { advance } from './advance.ts';
import { forClient } from './enter-application.ts';
import type { Entry } from './entry.ts';
import { askHook, requireApiKey } from './login.ts';

/** Signs in with a passkey alone: the assertion names the user. */
export async function signInByPasskey(auth: AuthState, call: Call): Promise<Reply> {
  requireApiKey(auth, call.context);
  const proven = await provePasskey(auth, call.body.credential, 'passkey_login', null);
  if ('reason' in proven) return refuse(auth, call, proven);
  const refusal = await refusalOf(auth, call, proven);
  if (refusal) return refuse(auth, call, refusal.unproven, refusal.error);
  return open(auth, call, proven);
}

async function open(auth: AuthState, call: Call, { account, passkey, used }: ProvenPasskey) {
  try {
    const entry: Entry = {
      account,
      method: 'passkey',
      amr: ['hwk', 'user'],
      goal: { kind: 'session', status: 200 },
      writes: ({ trx }) => usePasskey(auth, trx, { account, passkey, used }),
    };
    return await advance(auth, call, forClient(entry, call.body));
  } catch (error) {
    if (!(error instanceof ClonedPasskey)) throw error;
    await reportClone(auth, call, { account, passkey, used });
    return refuse(auth, call, { reason: 'cloned', userId: account.id });
  }
}

/**
 * The reason why a user may not sign in although their passkey is right. Only the hook's own error
 * is shown.
 */
async function refusalOf(
  auth: AuthState,
  { context }: Call,
  { account }: ProvenPasskey,
): Promise<{ unproven: Unproven; error?: AppError } | null> {
  const unproven = (reason: string) => ({ unproven: { reason, userId: account.id } });
  if (isClosed(account)) return unproven('disabled');
  if (auth.model.requireVerifiedEmail && !account.emailVerified) return unproven('unverified');
  const error = await askHook(auth, account, context);
  return error && { ...unproven('hook_denied'), error };
}

/** Records the failure. Every one is answered alike. @throws AppError 401 */
async function refuse(
  auth: AuthState,
  { context }: Call,
  { reason, userId }: Unproven,
  error: AppError = failure.unauthenticated('Invalid credentials'),
): Promise<never> {
  const caller = callerOf(context);
  const attempt = { kind: 'passkey', outcome: 'failure', reason, userId } as const;
  await noteAttempt(auth, caller, attempt, (emit) =>
    emit('auth.login.failed', userId, { reason, method: 'passkey' }),
  );
  auth.alerts.observe({ caller, identifierHash: null, userId });
  throw error;
}
