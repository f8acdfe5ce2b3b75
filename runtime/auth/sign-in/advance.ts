import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Trx } from '../base/tables.ts';
import { asUser, callerOf } from '../base/caller.ts';
import type { UserId } from '../base/ids.ts';
import { giveDevice, identifierOf, lockKeyOf } from '../limits/identifier.ts';
import type { AuthState } from '../state.ts';
import { PROOF_LIFETIME } from '../requests/proof.ts';
import { deliverLogin } from '../sessions/refresh-cookie.ts';
import { isRememberedHere } from '../second-factor/devices.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { rfc3339 } from '../base/time.ts';
import { enterApplication } from './enter-application.ts';
import {
  type Entry,
  type Factors,
  isSecondFactorRequired,
  type NextStep,
  nextStep,
  type PassedEntry,
} from './entry.ts';
import { noteSuccessAfter, waitsForCode } from './login.ts';
import { completeReset } from './reset.ts';
import { openSession, renewSession } from './open-session.ts';
import { issueTicket, type StepAnswer } from './tickets.ts';

/**
 * The one way in. Each first factor and each step ends here: it answers 202 with a ticket while a
 * step is left, and otherwise does what the user signs in for. `entry.writes` run in the same
 * transaction as either.
 */
export async function advance(auth: AuthState, call: Call, entry: Entry): Promise<Reply> {
  await enterApplication(auth, call, entry);
  const { account } = entry;
  const factors = await factorsOf(auth, account.id, account.totpSince !== null);
  const required = isSecondFactorRequired(auth.model, account);
  const left = nextStep(auth.model, entry, factors, required);
  if (left !== 'second_factor') return conclude(auth, call, entry, left);
  // A reauthentication and a reset ask for it on every device.
  const remembered =
    entry.goal.kind === 'session' ? await isRememberedHere(auth, call, account.id) : null;
  if (!remembered) return reply(202, await askStep(auth, call, entry, left));
  const { writes, amr } = entry;
  return advance(auth, call, {
    ...entry,
    amr: [...amr, 'remembered'],
    writes: async (change) => {
      await writes?.(change);
      await remembered(change.trx);
    },
  });
}

async function conclude(
  auth: AuthState,
  call: Call,
  entry: Entry,
  left: NextStep | null,
): Promise<Reply> {
  if (left !== null) return reply(202, await askStep(auth, call, entry, left));
  const done = await FINISH[entry.goal.kind](auth, call, entry as PassedEntry);
  await settleFailures(auth, call, entry);
  return done;
}

/**
 * The second factors of a user. Passkeys are read only where the manifest lets them count, so a
 * sign-in without a second factor needs no additional statement.
 */
async function factorsOf(auth: AuthState, userId: UserId, totp: boolean): Promise<Factors> {
  const counts =
    auth.model.secondFactor.mode === 'required' || auth.model.secondFactor.roles.length > 0;
  return { totp, passkey: counts && (await hasPasskey(auth, auth.db, userId)) };
}

/** Issues the ticket for a step, together with the writes of the steps before. */
export function askStep(
  auth: AuthState,
  { context }: Call,
  entry: Entry,
  next: NextStep,
  code?: string,
): Promise<StepAnswer> {
  return auth.events.transact(asUser(callerOf(context), entry.account.id), async (change) => {
    await entry.writes?.(change);
    const methods = await methodsOf(auth, change.trx, entry, next);
    const step = { next, ...(methods && { methods }), ...(code !== undefined && { code }) };
    return issueTicket(auth, change.trx, entry, step);
  });
}

/** The methods with which a user can continue. */
async function methodsOf(
  auth: AuthState,
  trx: Trx,
  { account }: Entry,
  next: NextStep,
): Promise<readonly string[] | undefined> {
  if (next === 'enroll_second_factor') return auth.config.passkeys ? ['totp', 'passkey'] : ['totp'];
  if (next !== 'second_factor') return undefined;
  return [
    ...(account.totpSince !== null ? ['totp'] : []),
    ...((await hasPasskey(auth, trx, account.id)) ? ['passkey'] : []),
    ...((await countRecoveryCodes(trx, account.id)) > 0 ? ['recovery_code'] : []),
  ];
}

type Finish = (auth: AuthState, call: Call, entry: PassedEntry) => Promise<Reply>;

/** The last action of a sign-in, by its goal. */
const FINISH: Readonly<Record<Entry['goal']['kind'], Finish>> = {
  session: async (auth, { context, koa }, entry) => {
    const issued = await openSession(auth, context, entry);
    giveDevice(auth, koa, identifierOf(auth, entry.account.email));
    const status = entry.goal.kind === 'session' ? entry.goal.status : 200;
    return reply(status, deliverLogin(auth, koa, issued));
  },
  reauthenticate: async (auth, { context, koa }, entry) => {
    const issued = await renewSession(auth, context, entry);
    const until = rfc3339(auth.now() + PROOF_LIFETIME);
    return reply(200, { ...deliverLogin(auth, koa, issued), reauthenticated_until: until });
  },
  reset: (auth, { context }, entry) => completeReset(auth, context, entry),
};

/**
 * Failures of a user with a second factor are deleted only now: if a right password deleted them,
 * a person who knows it could guess codes without end. A mail that was answered deletes them too.
 */
async function settleFailures(
  auth: AuthState,
  { context, koa }: Call,
  { account, method }: Entry,
): Promise<void> {
  if (method !== 'email' && !waitsForCode(auth, account)) return;
  const key = lockKeyOf(auth, koa, account.email);
  const { failures } = await auth.lockout.forget(key);
  await noteSuccessAfter(auth, callerOf(context), { key, account, failures });
}
