import type { AuthMethod, Db, Trx } from '../tables.ts';
import type { Entry, Goal, NextStep } from './entry.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import type { Amr } from '../sessions/sessions.ts';
import { MINUTE, SECOND } from '../time.ts';
import { isClosed } from '../users/user-directory.ts';

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
  { oneTime }: AuthParts,
  trx: Db,
  { account, method, amr, goal }: Entry,
  step: { readonly next: NextStep; readonly methods?: readonly string[]; readonly code?: string },
): Promise<StepAnswer> {
  const { next, methods, code } = step;
  const data: TicketData = { next, method, amr, goal, ...(code !== undefined && { code }) };
  const options = { data: { ...data }, newestOnly: false, life: TICKET_LIFETIME };
  const ticket = await oneTime.issue(trx, 'ticket', account.id, options);
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
  { oneTime, directory, kernel }: AuthParts,
  token: string,
  steps: readonly NextStep[],
): Promise<HeldTicket> {
  const { db } = kernel.store;
  const { userId, data } = await oneTime.peek(db, 'ticket', token);
  const { next, method, amr, goal, code } = data as unknown as TicketData;
  const account = steps.includes(next) ? await directory.find(db, userId) : null;
  if (!account || isClosed(account)) throw invalidToken();
  return { token, next, entry: { account, method, amr, goal }, code: code ?? null };
}

/**
 * Counts an answer before it is compared, so that simultaneous answers cannot exceed the limit of
 * five.
 *
 * @throws AppError 400
 */
export async function countAnswer({ oneTime, kernel }: AuthParts, token: string): Promise<void> {
  if (!(await oneTime.count(kernel.store.db, 'ticket', token, MAX_ANSWERS))) throw invalidToken();
}

/** Uses a ticket up, in the transaction that completes its step. @throws AppError 400 */
export async function useTicket({ oneTime }: AuthParts, trx: Trx, token: string): Promise<void> {
  await oneTime.consume(trx, 'ticket', token);
}
