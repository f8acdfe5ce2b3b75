import type { Trx } from '../tables.ts';
import type { RequestContext } from '@twofold/runtime/kernel';
import { type Reply, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { endAccess } from '../sessions/ended-access.ts';
import type { Goal, PassedEntry } from '../steps/entry.ts';
import { proveAddress, serialiseProofs } from '../sign-in/first-proof.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { emailKey } from '../sign-in/identity-rules.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { seal, unseal } from '../secrets/seal.ts';
import { assignDefaultRole } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';

/** Why access ended, in rows and events. */
const REASON = 'password reset';

/** The new password as a hash, and the token of the mail. */
interface Reset {
  readonly password: string;
  readonly token: string;
}

/** A reset as the goal of a sign-in. It may wait in a ticket, so its secrets are sealed. */
export function resetGoal(
  { keys }: AuthParts,
  account: Account,
  reset: Reset,
  firstProof: boolean,
): Goal {
  const sealed = seal(keys.derived('ticket-seal'), JSON.stringify(reset), `reset|${account.id}`);
  return { kind: 'reset', sealed, firstProof };
}

/** Sets the new password and ends all other access, after the last step of the reset. */
export async function completeReset(
  parts: AuthParts,
  context: RequestContext,
  { account, goal, passkey, writes }: PassedEntry,
): Promise<Reply> {
  const { kernel, events, directory, lockout } = parts;
  const { password, token } = readReset(parts, account, goal);
  const caller = asUser(callerOf(context), account.id);
  await events.transact(caller, async (trx, emit) => {
    await serialiseProofs(parts, trx);
    const { data } = await parts.oneTime.consume(trx, 'reset', token);
    await assertSameAddress(parts, trx, account, data);
    await writes?.(trx, emit);
    const change = { trx, emit, caller };
    const isFirst = !(await directory.hasAccount(trx, account.id));
    const claim = goal.kind === 'reset' && goal.firstProof ? null : 'own';
    const endedFirst = await proveAddress(parts, change, account.id, claim, REASON);
    await directory.update(trx, account.id, {
      password,
      password_changed_at: kernel.now(),
      tokens_valid_after: kernel.now(),
    });
    // A row that existed before the server becomes an account here.
    if (isFirst) await assignDefaultRole(parts, trx, account.id);
    const ended =
      endedFirst ??
      (await endAccess(parts, change, account, {
        reason: REASON,
        passkeys: passkey === undefined ? 'all' : { but: passkey },
      }));
    if (await lockout.clear(trx, identifierOf(parts, account.email)))
      emit('auth.unlocked', account.id, { by: 'reset' });
    emit('password.reset', account.id, { ...ended });
  });
  return reply(200, { message: 'Password reset successful' });
}

function readReset({ keys }: AuthParts, account: Account, goal: Goal): Reset {
  const sealed = goal.kind === 'reset' ? goal.sealed : '';
  const text = unseal(keys.derivedAll('ticket-seal'), sealed, `reset|${account.id}`);
  if (text === null) throw invalidToken();
  return JSON.parse(text) as Reset;
}

/** The mail went to the address of that time, so the token proves nothing about a new address. */
async function assertSameAddress(
  { directory }: AuthParts,
  trx: Trx,
  account: Account,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const current = await directory.find(trx, account.id);
  const same =
    current !== null &&
    data['email'] === emailKey(current.email) &&
    current.totpSince === account.totpSince;
  if (!same) throw invalidToken();
}
