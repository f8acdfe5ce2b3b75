import type { RequestContext } from '@twofold/runtime/kernel';
import { type Reply, reply } from '@twofold/runtime/http';
import type { Trx } from '../base/tables.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { identifierOf } from '../limits/identifier.ts';
import { emailKey } from '../base/identity-rules.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import { seal, unseal } from '../secrets/keys.ts';
import { assignDefaultRole } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';
import { endAccess } from './ended-access.ts';
import type { Goal, PassedEntry } from './entry.ts';
import { proveAddress, serialiseProofs } from './first-proof.ts';

/** Why access ended, in rows and events. */
const REASON = 'password reset';

/** The new password as a hash, and the token of the mail. */
interface Reset {
  readonly password: string;
  readonly token: string;
}

/** A reset as the goal of a sign-in. It may wait in a ticket, so its secrets are sealed. */
export function resetGoal(
  auth: AuthState,
  account: Account,
  reset: Reset,
  firstProof: boolean,
): Goal {
  const sealed = seal(
    auth.keys.derived('ticket-seal'),
    JSON.stringify(reset),
    `reset|${account.id}`,
  );
  return { kind: 'reset', sealed, firstProof };
}

/** Sets the new password and ends all other access, after the last step of the reset. */
export async function completeReset(
  auth: AuthState,
  context: RequestContext,
  { account, goal, passkey, writes }: PassedEntry,
): Promise<Reply> {
  const { password, token } = readReset(auth, account, goal);
  const caller = asUser(callerOf(context), account.id);
  await auth.events.transact(caller, async (change) => {
    const { trx, emit } = change;
    await serialiseProofs(auth, trx);
    const { data } = await auth.oneTime.consume(trx, 'reset', token);
    await assertSameAddress(auth, trx, account, data);
    await writes?.(change);
    const isFirst = !(await auth.directory.hasAccount(trx, account.id));
    const claim = goal.kind === 'reset' && goal.firstProof ? null : 'own';
    const endedFirst = await proveAddress(auth, change, account.id, claim, REASON);
    await auth.directory.update(trx, account.id, {
      password,
      password_changed_at: auth.now(),
      tokens_valid_after: auth.now(),
    });
    // A row that existed before the server becomes an account here.
    if (isFirst) await assignDefaultRole(auth, trx, account.id);
    const ended =
      endedFirst ??
      (await endAccess(auth, change, account, {
        reason: REASON,
        passkeys: passkey === undefined ? 'all' : { but: passkey },
      }));
    if (await auth.lockout.clear(trx, identifierOf(auth, account.email)))
      emit('auth.unlocked', account.id, { by: 'reset' });
    emit('password.reset', account.id, { ...ended });
  });
  return reply(200, { message: 'Password reset successful' });
}

function readReset(auth: AuthState, account: Account, goal: Goal): Reset {
  const sealed = goal.kind === 'reset' ? goal.sealed : '';
  const text = unseal(auth.keys.derivedAll('ticket-seal'), sealed, `reset|${account.id}`);
  if (text === null) throw invalidToken();
  return JSON.parse(text) as Reset;
}

/** The mail went to the address of that time, so the token proves nothing about a new address. */
async function assertSameAddress(
  auth: AuthState,
  trx: Trx,
  account: Account,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const current = await auth.directory.find(trx, account.id);
  const same =
    current !== null &&
    data['email'] === emailKey(current.email) &&
    current.totpSince === account.totpSince;
  if (!same) throw invalidToken();
}
