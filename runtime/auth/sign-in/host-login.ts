import type { RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Trx } from '../tables.ts';
import type { Context as KoaContext } from 'koa';
import { recordAttempt } from '../events/attempts.ts';
import { addressKey, callerOf, HOST } from '../requests/caller.ts';
import { mac } from '../secrets/keys.ts';
import type { Ticket } from './lockout.ts';
import type { AuthParts } from '../parts.ts';
import { rfc3339 } from '../time.ts';
import { admitsHost, clientOf } from '../sessions/client.ts';
import { deliverHostLogin, hostLifetimes } from '../sessions/host-session.ts';
import { useHostLink } from '../setup/host-link.ts';
import type { Session } from '../sessions/sessions.ts';

/**
 * `POST /api/auth/login {password}`: sign-in of the operator of the hosting server. Failures are
 * counted for each IP address, and together under the limit `host-failed`. Failures of a device
 * that signed in before are counted for that device only. So an attacker cannot lock the operator
 * out, not even from many addresses.
 */
export async function signInHost(parts: AuthParts, { context, koa, body }: Call): Promise<Reply> {
  if (body.code) return enterByLink(parts, { context, koa }, body.code, clientOf(body));
  if (parts.config.host === null) throw failure.forbidden('Setup required');
  const attempt: HostAttempt = {
    context,
    koa,
    identifierHash: hostIdentifier(parts),
    device: hostDevice(parts, koa),
  };
  const client = clientOf(body);
  await check(parts, attempt, body.password, await parts.hostPassword());
  if (!admitsHost(parts, client)) await refuseEntry(parts, attempt, client!);
  const current = await openHostSession(parts, context, client);
  parts.hostDevices.give(koa, attempt.identifierHash);
  return reply(200, deliverHostLogin(parts, koa, { current, generation: current.gen }));
}

/** Signs in with the code of a link, which who reads the server's log or its database has. */
async function enterByLink(
  parts: AuthParts,
  { context, koa }: Pick<Call, 'context' | 'koa'>,
  code: string,
  client: string | null,
): Promise<Reply> {
  if (!admitsHost(parts, client)) throw failure.forbidden();
  const current = await openHostSession(parts, context, client, (trx) =>
    useHostLink(parts, trx, code, client),
  );
  return reply(200, deliverHostLogin(parts, koa, { current, generation: current.gen }));
}

/** One attempt to sign in as the operator. */
interface HostAttempt {
  readonly context: RequestContext;
  readonly koa: KoaContext;
  readonly identifierHash: string;
  /** The key under which failures of a known device are counted; null for an unknown device. */
  readonly device: string | null;
}

/**
 * The key under which failures of the operator's device are counted; null when the operator never
 * signed in on the device of the request.
 */
export function hostDevice(parts: AuthParts, koa: KoaContext): string | null {
  const id = parts.hostDevices.read(koa, hostIdentifier(parts));
  return id && `device:${id}`;
}

const hostIdentifier = ({ identifierKey }: AuthParts) => mac(identifierKey, 'host');

/** A plain-text `HOST_PASSWORD` is hashed once, on first use, with the current cost. */
export function hostHash(
  config: AuthParts['config'],
  passwords: AuthParts['passwords'],
): () => Promise<string> {
  let hash: Promise<string> | null = null;
  return () => {
    if (config.host === null) return Promise.resolve('');
    hash ??=
      'hash' in config.host
        ? Promise.resolve(config.host.hash)
        : passwords.hash(config.host.password);
    hash.catch(() => (hash = null));
    return hash;
  };
}

async function check(
  parts: AuthParts,
  attempt: HostAttempt,
  password: string,
  stored: string,
): Promise<void> {
  const ticket = await enter(parts, attempt);
  try {
    if (await parts.passwords.verify(password, stored)) return void (await ticket.succeed());
    await refuse(parts, attempt, ticket);
  } finally {
    ticket.release();
  }
}

async function enter(parts: AuthParts, attempt: HostAttempt): Promise<Ticket> {
  const { context, koa, identifierHash, device } = attempt;
  if (device === null)
    await parts.limits.enforce(koa, [{ policy: 'host-failed', subject: 'host', peek: true }]);
  const bucket = device ?? `ip:${addressKey(context.ip)}`;
  try {
    return await parts.lockout.enter({ identifierHash, bucket }, context.signal);
  } catch (error) {
    if (error instanceof AppError && error.status === 423)
      await note(parts, attempt, 'blocked', 'locked');
    throw error;
  }
}

async function refuse(parts: AuthParts, attempt: HostAttempt, ticket: Ticket): Promise<never> {
  const { context, device } = attempt;
  if (device === null) await parts.limits.allows({ policy: 'host-failed', subject: 'host' });
  const subject = device ?? addressKey(context.ip);
  await parts.limits.allows({ policy: 'login-failed-ip', subject });
  const { keep } = parts.kernel.store;
  const { locked, until, failures } = await keep(() => ticket.fail());
  await note(parts, attempt, 'failure', 'bad_credentials');
  if (locked)
    await keep(() =>
      parts.events.emit(callerOf(context), 'auth.locked', null, {
        until: rfc3339(until),
        failures,
        host: true,
      }),
    );
  throw failure.unauthenticated('Invalid password');
}

async function refuseEntry(parts: AuthParts, attempt: HostAttempt, client: string): Promise<never> {
  await note(parts, attempt, 'blocked', client);
  throw failure.forbidden();
}

/** The attempt and its event outlive a rollback of the transaction around the refused call. */
async function note(
  parts: AuthParts,
  { context, identifierHash }: HostAttempt,
  outcome: 'failure' | 'blocked',
  reason: string,
): Promise<void> {
  const caller = callerOf(context);
  await parts.kernel.store.keep(() =>
    parts.events.transact(caller, async (trx, emit) => {
      await recordAttempt(trx, parts.kernel, caller, {
        kind: 'host',
        outcome,
        reason,
        identifierHash,
        identifier: null,
        userId: null,
        sessionId: null,
      });
      emit('auth.login.failed', null, { reason, host: true });
    }),
  );
}

async function openHostSession(
  parts: AuthParts,
  context: RequestContext,
  client: string | null,
  before?: (trx: Trx) => Promise<void>,
): Promise<Session> {
  const caller = { ...callerOf(context), actor: HOST };
  return parts.events.transact(caller, async (trx, emit) => {
    await before?.(trx);
    const { session } = await parts.sessions.open(trx, caller, {
      userId: null,
      method: 'host',
      lifetimes: hostLifetimes(parts, client),
      ...(client !== null && { client }),
    });
    await recordAttempt(trx, parts.kernel, caller, {
      kind: 'host',
      outcome: 'success',
      reason: null,
      identifierHash: null,
      identifier: null,
      userId: null,
      sessionId: session.id,
    });
    emit('auth.login.succeeded', null, { method: 'host', session_id: session.id });
    return session;
  });
}
