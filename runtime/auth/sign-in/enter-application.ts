import type { Call } from '@twofold/runtime/http';
import { failure } from '@twofold/runtime/errors';
import { noteAttempt } from '../events/attempts.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { admits, clientOf } from '../sessions/client.ts';
import { assertSecureEntry } from '../sessions/client-cookie.ts';
import type { AuthState } from '../state.ts';
import { attemptOf } from './open-session.ts';
import type { Entry } from './entry.ts';

/**
 * Asks the application that a sign-in is for whether the user may enter: after the first factor, and
 * again after each step, because a role can change meanwhile. A reauthentication asks as well: the
 * session would otherwise go on for a user who may no longer enter.
 *
 * @throws AppError 403
 */
export async function enterApplication(auth: AuthState, call: Call, entry: Entry): Promise<void> {
  const client = await applicationOf(auth, entry);
  if (client === null) return;
  if (entry.goal.kind === 'session') assertSecureEntry(auth, call, client);
  if (admits(auth, client, entry.account)) return;
  await refuse(auth, call, entry, client);
}

/** The application that a session is for: a new one, or the one that a reauthentication renews. */
async function applicationOf(auth: AuthState, { goal }: Entry): Promise<string | null> {
  if (goal.kind === 'session') return goal.client ?? null;
  if (goal.kind !== 'reauthenticate') return null;
  return (await auth.sessions.find(auth.db, goal.sessionId))?.client ?? null;
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
  auth: AuthState,
  { context }: Call,
  entry: Entry,
  client: string,
): Promise<never> {
  const { id } = entry.account;
  const attempt = { ...attemptOf(auth, entry), outcome: 'blocked', reason: client } as const;
  await noteAttempt(auth, asUser(callerOf(context), id), attempt, (emit) =>
    emit('auth.login.failed', id, { reason: client }),
  );
  throw failure.forbidden();
}
