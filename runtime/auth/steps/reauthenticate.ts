import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { advance, askStep } from './advance.ts';
import { callerOf } from '../requests/caller.ts';
import { answerUnderLockout, type CodeAttempt } from './code-attempt.ts';
import { refuseImpersonation } from '../users/authority.ts';
import type { Entry } from './entry.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { checkPassword, toAttempt } from '../sign-in/login.ts';
import { newCode, reauthenticationOf, sealCode } from './mailed-code.ts';
import type { AuthParts } from '../parts.ts';
import { signedInAccount } from './reauthentication.ts';
import { provePasskeyFactor } from '../second-factor/factors.ts';
import type { Amr } from '../sessions/sessions.ts';
import { TICKET_LIFETIME } from './tickets.ts';
import { MINUTE } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * `POST /api/auth/reauthenticate {password | credential}`: the session goes on under new tokens and
 * has a proof. A user without a password sends `{}` and gets a code by mail.
 */
export async function proveAgain(parts: AuthParts, call: Call): Promise<Reply> {
  refuseImpersonation(call.context);
  const { account, sessionId } = await signedInAccount(parts, call.context);
  const entry = (amr: readonly Amr[]): Entry => ({
    account,
    method: amr.includes('hwk') ? 'passkey' : 'password',
    amr,
    goal: { kind: 'reauthenticate', sessionId },
  });
  const { password, credential } = call.body;
  if (credential !== undefined) return byPasskey(parts, call, account, entry(['hwk', 'user']));
  if (password !== undefined) {
    await checkPassword(parts, toAttempt(parts, call.context, call.koa, account.email, password));
    return advance(parts, call, entry(['pwd']));
  }
  if (account.password !== null) throw failure.badRequest('password is required');
  return mailCode(parts, call, account, { ...entry([]), method: 'email' });
}

function byPasskey(parts: AuthParts, call: Call, account: Account, entry: Entry): Promise<Reply> {
  const attempt: CodeAttempt = {
    call,
    account,
    identifierHash: identifierOf(parts, account.email),
    kind: 'passkey',
    error: () => failure.unauthenticated('Invalid credentials'),
  };
  return answerUnderLockout(parts, attempt, async () => {
    const { writes } = await provePasskeyFactor(parts, call, account, 'passkey_reauthentication');
    return advance(parts, call, { ...entry, writes });
  });
}

async function mailCode(
  parts: AuthParts,
  call: Call,
  account: Account,
  entry: Entry,
): Promise<Reply> {
  parts.mailer.assertAvailable();
  await parts.limits.enforce(call.koa, [
    { policy: 'forgot-identifier', subject: `reauthenticate:${account.id}` },
  ]);
  const code = newCode();
  const sealed = sealCode(parts, reauthenticationOf(account.id), code);
  const step = await askStep(parts, call, entry, 'email_code', sealed);
  parts.mails.send(
    'sign-in',
    { to: account.email, account, caller: callerOf(call.context) },
    { link: '', code, minutes: TICKET_LIFETIME / MINUTE },
  );
  return reply(202, step);
}
