import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import { addressKey, type Caller, callerOf, SYSTEM } from '../base/caller.ts';
import { identifierOf, readDevice } from '../limits/identifier.ts';
import type { Limit } from '../limits/rate-limits.ts';
import type { AuthState } from '../state.ts';
import type { Account } from '../users/user-directory.ts';
import type { MailData, MailKind } from './kinds.ts';
import type { Recipient } from './mails.ts';

/** Who causes a mail, as the limits of mails count it. */
export interface Asker {
  readonly key: string;
  /** Whether it is a device on which the owner of the address has signed in. */
  readonly known: boolean;
}

/** The owner's device, the signed-in sender, or the network of a request. */
export function askerOf(auth: AuthState, { koa, context }: Call, email: string): Asker {
  const device = readDevice(auth, koa, identifierOf(auth, email));
  return device ? { key: `device:${device}`, known: true } : askerIn(callerOf(context));
}

function askerIn({ actor, ip }: Caller): Asker {
  const key = actor.id === null ? `ip:${addressKey(ip)}` : `${actor.kind}:${actor.id}`;
  return { key, known: false };
}

/**
 * Admits a signed-in sender to mail an address that did not ask: only with an address that is proved,
 * and only so often.
 *
 * @throws AppError 403, 429, 503
 */
export async function assertMayMailStrangers(
  auth: AuthState,
  koa: KoaContext,
  sender: Account,
  counted: readonly Limit[],
): Promise<void> {
  auth.mails.assertAvailable();
  if (!sender.emailVerified) throw failure.forbidden('Email not verified');
  await auth.limits.enforce(koa, counted);
}

/** Senders together may cause so many times the mails that one of them may. */
const SENDERS = 4;

/**
 * Sends a mail that someone other than the owner of the address can cause. The caller does not learn
 * whether it was sent.
 */
export async function sendStrangerMail<Kind extends MailKind>(
  auth: AuthState,
  kind: Kind,
  recipient: Recipient,
  data: MailData[Kind],
): Promise<void> {
  if (await mayMailStranger(auth, recipient)) auth.mails.send(kind, recipient, data);
}

/**
 * Counts a mail to an address, over all flows: by who asks, so that nobody uses up what the owner
 * may ask for, and for the address in all, unless it is the owner's device that asks.
 *
 * @returns whether it is within the limits.
 */
export async function mayMailStranger(
  auth: AuthState,
  { to, caller = SYSTEM }: Pick<Recipient, 'to' | 'caller'>,
  asker: Asker = askerIn(caller),
): Promise<boolean> {
  const policy = 'mail-identifier';
  const subject = identifierOf(auth, to);
  const rate = auth.limits.policy(policy);
  const all = rate && !asker.known && { ...rate, count: rate.count * SENDERS };
  return auth.limits.allows(
    { policy, subject: `${subject}|${asker.key}` },
    ...(all ? [{ policy, subject, rate: all }] : []),
  );
}
