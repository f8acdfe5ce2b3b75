import type { Call } from '@twofold/runtime/http';
import { failure } from '@twofold/runtime/errors';
import { recordAttempt } from '../events/attempts.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { admits, clientOf } from '../sessions/client.ts';
import { assertSecureEntry } from '../sessions/secure-entry.ts';
import { attemptOf } from '../sessions/sign-in.ts';
import type { Entry } from './entry.ts';
import type { AuthParts } from '../parts.ts';

/**
 * Asks the application that a sign-in is for whether the user may enter: after the first factor, and
 * again after each step, because a role can change meanwhile. A reauthentication asks as well: the
 * session would otherwise go on for a user who may no longer enter.
 *
 * @throws AppError 403
 */
export async function enterApplication(parts: AuthParts, call: Call, entry: Entry): Promise<void> {
  const client = await applicationOf(parts, entry);
  if (client === null) return;
  if (entry.goal.kind === 'session') assertSecureEntry(parts, call, client);
  if (admits(parts, client, entry.account)) return;
  await refuse(parts, call, entry, client);
}

/** The application that a session is for: a new one, or the one that a reauthentication renews. */
async function applicationOf(
  { sessions, kernel }: AuthParts,
  { goal }: Entry,
): Promise<string | null> {
  if (goal.kind === 'session') return goal.client ?? null;
  if (goal.kind !== 'reauthenticate') return null;
  return (await sessions.find(kernel.store.db, goal.sessionId))?.client ?? null;
}

/**
 * The entry with the application that the body names. The answer to a step may leave it out,
 * because the ticket contains it. @throws AppError 400.
 */
export function forClient(entry: Entry, body: unknown): Entry {
  const client = clientOf(body);
  if (client === null || entry.goal.kind !== 'session') return entry;
  return { ...entry, goal: { ...entry.goal, client } };
}

async function refuse(
  parts: AuthParts,
  { context }: Call,
  entry: Entry,
  client: string,
): Promise<never> {
  const { id } = entry.account;
  const caller = asUser(callerOf(context), id);
  await parts.kernel.store.keep(() =>
    parts.events.transact(caller, async (trx, emit) => {
      await recordAttempt(trx, parts.kernel, caller, {
        ...attemptOf(parts, entry),
        outcome: 'blocked',
        reason: client,
        sessionId: null,
      });
      emit('auth.login.failed', id, { reason: client });
    }),
  );
  throw failure.forbidden();
}
