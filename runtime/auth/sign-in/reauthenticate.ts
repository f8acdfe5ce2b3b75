import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { callerOf } from '../base/caller.ts';
import { refuseImpersonation } from '../requests/authority.ts';
import { identifierOf } from '../limits/identifier.ts';
import type { AuthState } from '../state.ts';
import { signedInAccount } from '../requests/proof.ts';
import { provePasskeyFactor } from '../second-factor/factors.ts';
import type { Amr } from '../sessions/sessions.ts';
import { MINUTE } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import { advance, askStep } from './advance.ts';
import {
  answerUnderLockout,
  type CodeAttempt,
  newCode,
  reauthenticationOf,
  sealCode,
} from './code-attempt.ts';
import type { Entry } from './entry.ts';
import { checkPassword, toAttempt } from './login.ts';
import { TICKET_LIFETIME } from './tickets.ts';

/**
 * `POST /api/auth/reauthenticate {password | credential}`: the session goes on under new tokens and
 * has a proof. A user without a password sends `{}` and gets a code by mail.
 */
export async function proveAgain(auth: AuthState, call: Call): Promise<Reply> {
  refuseImpersonation(call.context);
  const { account, sessionId } = await signedInAccount(auth, call.context);
  const entry = (amr: readonly Amr[]): Entry => ({
    account,
    method: amr.includes('hwk') ? 'passkey' : 'password',
    amr,
    goal: { kind: 'reauthenticate', sessionId },
  });
  const { password, credential } = call.body;
  if (credential !== undefined) return byPasskey(auth, call, account, entry(['hwk', 'user']));
  if (password !== undefined) {
    await checkPassword(auth, toAttempt(auth, call.context, call.koa, account.email, password));
    return advance(auth, call, entry(['pwd']));
  }
  if (account.password !== null) throw failure.badRequest('password is required');
  return mailCode(auth, call, account, { ...entry([]), method: 'email' });
}

function byPasskey(auth: AuthState, call: Call, account: Account, entry: Entry): Promise<Reply> {
  const attempt: CodeAttempt = {
    call,
    account,
    identifierHash: identifierOf(auth, account.email),
    kind: 'passkey',
    error: () => failure.unauthenticated('Invalid credentials'),
  };
  return answerUnderLockout(auth, attempt, async () => {
    const { writes } = await provePasskeyFactor(auth, call, account, 'passkey_reauthentication');
    return advance(auth, call, { ...entry, writes });
  });
}

async function mailCode(
  auth: AuthState,
  call: Call,
  account: Account,
  entry: Entry,
): Promise<Reply> {
  auth.mails.assertAvailable();
  await auth.limits.enforce(call.koa, [
    { policy: 'forgot-identifier', subject: `reauthenticate:${account.id}` },
  ]);
  const code = newCode();
  const sealed = sealCode(auth, reauthenticationOf(account.id), code);
  const step = await askStep(auth, call, entry, 'email_code', sealed);
  auth.mails.send(
    'sign-in',
    { to: account.email, account, caller: callerOf(call.context) },
    { link: '', code, minutes: TICKET_LIFETIME / MINUTE },
  );
  return reply(202, step);
}
