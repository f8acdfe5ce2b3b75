import type { AuthMethod, Db, Trx } from '../base/tables.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import type { Amr } from '../sessions/sessions.ts';
import { MINUTE, SECOND } from '../base/time.ts';
import { isClosed } from '../users/user-directory.ts';
import type { Entry, Goal, NextStep } from './entry.ts';

/** Milliseconds for which a ticket is valid. */
export const TICKET_LIFETIME = 5 * MINUTE;

/** A ticket ends after this many wrong answers. */
export const MAX_ANSWERS = 5;

/** The answer to a step that is not the last one. */
export interface StepAnswer {
  readonly next: NextStep;
  readonly ticket: string;
  readonly methods?: readonly string[];
  /** Seconds. */
  readonly expires_in: number;
}

/** The state of a sign-in between two requests, in the row of its ticket. */
interface TicketData {
  readonly next: NextStep;
  readonly method: AuthMethod;
  readonly amr: readonly Amr[];
  readonly goal: Goal;
  /** HMAC of the code that was mailed. */
  readonly code?: string;
}

/** A live ticket, with the entry that it continues. */
export interface HeldTicket {
  readonly token: string;
  readonly next: NextStep;
  readonly entry: Entry;
  readonly code: string | null;
}

/** Issues a ticket for the step that is left. */
export async function issueTicket(
  auth: AuthState,
  trx: Db,
  { account, method, amr, goal }: Entry,
  step: { readonly next: NextStep; readonly methods?: readonly string[]; readonly code?: string },
): Promise<StepAnswer> {
  const { next, methods, code } = step;
  const data: TicketData = { next, method, amr, goal, ...(code !== undefined && { code }) };
  const options = { data: { ...data }, newestOnly: false, life: TICKET_LIFETIME };
  const ticket = await auth.oneTime.issue(trx, 'ticket', account.id, options);
  return {
    next,
    ticket,
    ...(methods && { methods }),
    expires_in: TICKET_LIFETIME / SECOND,
  };
}

/**
 * Finds a ticket for one of these steps without using it up.
 *
 * @throws AppError 400 `Invalid or expired token`
 */
export async function readTicket(
  auth: AuthState,
  token: string,
  steps: readonly NextStep[],
): Promise<HeldTicket> {
  const { db } = auth;
  const { userId, data } = await auth.oneTime.peek(db, 'ticket', token);
  const { next, method, amr, goal, code } = data as unknown as TicketData;
  const account = steps.includes(next) ? await auth.directory.find(db, userId) : null;
  if (!account || isClosed(account)) throw invalidToken();
  return { token, next, entry: { account, method, amr, goal }, code: code ?? null };
}

/**
 * Counts an answer before it is compared, so that simultaneous answers cannot exceed the limit of
 * five.
 *
 * @throws AppError 400
 */
export async function countAnswer(auth: AuthState, token: string): Promise<void> {
  if (!(await auth.oneTime.count(auth.db, 'ticket', token, MAX_ANSWERS))) throw invalidToken();
}

/** Uses a ticket up, in the transaction that completes its step. @throws AppError 400 */
export async function useTicket(auth: AuthState, trx: Trx, token: string): Promise<void> {
  await auth.oneTime.consume(trx, 'ticket', token);
}
