import type { Trx } from '../tables.ts';
import type { Call } from '@twofold/runtime/http';
import { advance } from './advance.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import type { StepWrites } from './entry.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { assertProof } from '../requests/proof.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { assertStillOpen } from './reauthentication.ts';
import type { Amr } from '../sessions/sessions.ts';
import { countAnswer, type HeldTicket, readTicket, useTicket } from './tickets.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * A user who may add a factor: signed in with a proof, or on the way in with a ticket of the step
 * `enroll_second_factor`.
 */
export type Enroller =
  | { readonly account: Account; readonly sessionId: string }
  | { readonly account: Account; readonly ticket: HeldTicket };

/** @throws AppError 400, 401, 403 */
export async function readEnroller(parts: AuthParts, call: Call): Promise<Enroller> {
  const { ticket } = call.body as { ticket?: string };
  if (ticket === undefined) return assertProof(parts, call.context);
  requireApiKey(parts, call.context);
  const held = await readTicket(parts, ticket, ['enroll_second_factor']);
  // A ticket that was issued before the user had a factor must not replace it or add another one.
  const { id, totpSince } = held.entry.account;
  if (totpSince !== null || (await hasPasskey(parts, parts.kernel.store.db, id)))
    throw invalidToken();
  return { account: held.entry.account, ticket: held };
}

/** Counts an answer of a ticket, which has five. A proof has no such limit. */
export async function countEnrolment(parts: AuthParts, enroller: Enroller): Promise<void> {
  if ('ticket' in enroller) await countAnswer(parts, enroller.ticket.token);
}

/**
 * Stores a new factor. The session continues with it; with a ticket, the sign-in does.
 *
 * @returns what the answer has besides its own fields: with a ticket `login`, or the next step.
 */
export async function enroll(
  parts: AuthParts,
  call: Call,
  enroller: Enroller,
  { amr, writes }: { readonly amr: readonly Amr[]; readonly writes: StepWrites },
): Promise<{ readonly status: 200 | 202; readonly fields: object }> {
  const { account } = enroller;
  if ('sessionId' in enroller) {
    const caller = asUser(callerOf(call.context), account.id);
    await parts.events.transact(caller, async (trx, emit) => {
      await assertUsable(parts, trx, enroller.sessionId);
      await writes(trx, emit);
      await parts.sessions.addFactors(trx, enroller.sessionId, amr);
    });
    return { status: 200, fields: {} };
  }
  const { token, entry } = enroller.ticket;
  const answer = await advance(parts, call, {
    ...entry,
    amr: [...entry.amr, ...amr],
    writes: async (trx, emit) => {
      await useTicket(parts, trx, token);
      await writes(trx, emit);
    },
  });
  if (answer.status === 202) return { status: 202, fields: answer.body as object };
  return { status: 200, fields: { login: answer.body } };
}

/** A password reset may have ended the session since the request began. @throws AppError 401 */
async function assertUsable(parts: AuthParts, trx: Trx, sessionId: string): Promise<void> {
  await serialiseRights(trx, parts.kernel.store.dialect);
  await assertStillOpen(parts, trx, sessionId);
}
