import type { Trx } from '../tables.ts';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { enterApplication } from './enter-application.ts';
import {
  type Entry,
  type Factors,
  isSecondFactorRequired,
  type NextStep,
  nextStep,
  type PassedEntry,
} from './entry.ts';
import type { UserId } from '../ids.ts';
import { identifierOf, lockKeyOf } from '../sign-in/identifier.ts';
import { noteSuccessAfter, waitsForCode } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { PROOF_LIFETIME } from '../requests/proof.ts';
import { completeReset } from '../passwords/reset.ts';
import { deliverLogin } from '../sessions/refresh-cookie.ts';
import { isRememberedHere } from '../second-factor/devices.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import { countRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { type StepAnswer, issueTicket } from './tickets.ts';
import { rfc3339 } from '../time.ts';

/**
 * The one way in. Each first factor and each step ends here: it answers 202 with a ticket while a
 * step is left, and otherwise does what the user signs in for. `entry.writes` run in the same
 * transaction as either.
 */
export async function advance(parts: AuthParts, call: Call, entry: Entry): Promise<Reply> {
  await enterApplication(parts, call, entry);
  const { account } = entry;
  const factors = await factorsOf(parts, account.id, account.totpSince !== null);
  const required = isSecondFactorRequired(parts.model, account);
  const left = nextStep(parts.model, entry, factors, required);
  if (left !== 'second_factor') return conclude(parts, call, entry, left);
  const remembered = await isRememberedHere(parts, call, entry);
  if (!remembered) return reply(202, await askStep(parts, call, entry, left));
  const { writes, amr } = entry;
  return advance(parts, call, {
    ...entry,
    amr: [...amr, 'remembered'],
    writes: async (trx, emit) => {
      await writes?.(trx, emit);
      await remembered(trx);
    },
  });
}

async function conclude(
  parts: AuthParts,
  call: Call,
  entry: Entry,
  left: NextStep | null,
): Promise<Reply> {
  if (left !== null) return reply(202, await askStep(parts, call, entry, left));
  const done = await FINISH[entry.goal.kind](parts, call, entry as PassedEntry);
  await settleFailures(parts, call, entry);
  return done;
}

/**
 * The second factors of a user. Passkeys are read only where the manifest lets them count, so a
 * sign-in without a second factor needs no additional statement.
 */
async function factorsOf(parts: AuthParts, userId: UserId, totp: boolean): Promise<Factors> {
  const counts =
    parts.model.secondFactor.mode === 'required' || parts.model.secondFactor.roles.length > 0;
  return { totp, passkey: counts && (await hasPasskey(parts, parts.kernel.store.db, userId)) };
}

/** Issues the ticket for a step, together with the writes of the steps before. */
export function askStep(
  parts: AuthParts,
  { context }: Call,
  entry: Entry,
  next: NextStep,
  code?: string,
): Promise<StepAnswer> {
  return parts.events.transact(asUser(callerOf(context), entry.account.id), async (trx, emit) => {
    await entry.writes?.(trx, emit);
    const methods = await methodsOf(parts, trx, entry, next);
    const step = { next, ...(methods && { methods }), ...(code !== undefined && { code }) };
    return issueTicket(parts, trx, entry, step);
  });
}

/** The methods with which a user can continue. */
async function methodsOf(
  parts: AuthParts,
  trx: Trx,
  { account }: Entry,
  next: NextStep,
): Promise<readonly string[] | undefined> {
  if (next === 'enroll_second_factor')
    return parts.config.passkeys ? ['totp', 'passkey'] : ['totp'];
  if (next !== 'second_factor') return undefined;
  return [
    ...(account.totpSince !== null ? ['totp'] : []),
    ...((await hasPasskey(parts, trx, account.id)) ? ['passkey'] : []),
    ...((await countRecoveryCodes(trx, account.id)) > 0 ? ['recovery_code'] : []),
  ];
}

type Finish = (parts: AuthParts, call: Call, entry: PassedEntry) => Promise<Reply>;

/** The last action of a sign-in, by its goal. */
const FINISH: Readonly<Record<Entry['goal']['kind'], Finish>> = {
  session: async (parts, { context, koa }, entry) => {
    const issued = await parts.signIn.open(context, entry);
    parts.devices.give(koa, identifierOf(parts, entry.account.email));
    const status = entry.goal.kind === 'session' ? entry.goal.status : 200;
    return reply(status, deliverLogin(parts, koa, issued));
  },
  reauthenticate: async (parts, { context, koa }, entry) => {
    const issued = await parts.signIn.renew(context, entry);
    const until = rfc3339(parts.kernel.now() + PROOF_LIFETIME);
    return reply(200, { ...deliverLogin(parts, koa, issued), reauthenticated_until: until });
  },
  reset: (parts, { context }, entry) => completeReset(parts, context, entry),
};

/**
 * Failures of a user with a second factor are deleted only now: if a right password deleted them,
 * a person who knows it could guess codes without end. A mail that was answered deletes them too.
 */
async function settleFailures(
  parts: AuthParts,
  { context, koa }: Call,
  { account, method }: Entry,
): Promise<void> {
  if (method !== 'email' && !waitsForCode(parts, account)) return;
  const key = lockKeyOf(parts, koa, account.email);
  const { failures } = await parts.lockout.forget(key);
  await noteSuccessAfter(parts, callerOf(context), { key, account, failures });
}
