import type { Call } from '@twofold/runtime/http';
import type { StepWrites } from '../events/events.ts';
import type { Trx } from '../base/tables.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import type { AuthState } from '../state.ts';
import { serialiseRights } from '../users/permissions.ts';
import { assertProof, assertStillOpen } from '../requests/proof.ts';
import type { Amr } from '../sessions/sessions.ts';
import type { Account } from '../users/user-directory.ts';
import { advance } from './advance.ts';
import { requireApiKey } from './login.ts';
import { countAnswer, type HeldTicket, readTicket, useTicket } from './tickets.ts';

/**
 * A user who may add a factor: signed in with a proof, or on the way in with a ticket of the step
 * `enroll_second_factor`.
 */
export type Enroller =
  | { readonly account: Account; readonly sessionId: string }
  | { readonly account: Account; readonly ticket: HeldTicket };

/** @throws AppError 400, 401, 403 */
export async function readEnroller(auth: AuthState, call: Call): Promise<Enroller> {
  const { ticket } = call.body as { ticket?: string };
  if (ticket === undefined) return assertProof(auth, call.context);
  requireApiKey(auth, call.context);
  const held = await readTicket(auth, ticket, ['enroll_second_factor']);
  // A ticket that was issued before the user had a factor must not replace it or add another one.
  const { id, totpSince } = held.entry.account;
  if (totpSince !== null || (await hasPasskey(auth, auth.db, id))) throw invalidToken();
  return { account: held.entry.account, ticket: held };
}

/** Counts an answer of a ticket, which has five. A proof has no such limit. */
export async function countEnrolment(auth: AuthState, enroller: Enroller): Promise<void> {
  if ('ticket' in enroller) await countAnswer(auth, enroller.ticket.token);
}

/**
 * Stores a new factor. The session continues with it; with a ticket, the sign-in does.
 *
 * @returns what the answer has besides its own fields: with a ticket `login`, or the next step.
 */
export async function enroll(
  auth: AuthState,
  call: Call,
  enroller: Enroller,
  { amr, writes }: { readonly amr: readonly Amr[]; readonly writes: StepWrites },
): Promise<{ readonly status: 200 | 202; readonly fields: object }> {
  const { account } = enroller;
  if ('sessionId' in enroller) {
    const caller = asUser(callerOf(call.context), account.id);
    await auth.events.transact(caller, async (change) => {
      await assertUsable(auth, change.trx, enroller.sessionId);
      await writes(change);
      await auth.sessions.addFactors(change.trx, enroller.sessionId, amr);
    });
    return { status: 200, fields: {} };
  }
  const { token, entry } = enroller.ticket;
  const answer = await advance(auth, call, {
    ...entry,
    amr: [...entry.amr, ...amr],
    writes: async (change) => {
      await useTicket(auth, change.trx, token);
      await writes(change);
    },
  });
  if (answer.status === 202) return { status: 202, fields: answer.body as object };
  return { status: 200, fields: { login: answer.body } };
}

/** A password reset may have ended the session since the request began. @throws AppError 401 */
async function assertUsable(auth: AuthState, trx: Trx, sessionId: string): Promise<void> {
  await serialiseRights(trx, auth.store.dialect);
  await assertStillOpen(auth, trx, sessionId);
}
