import type { RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import type { Context as KoaContext } from 'koa';
import { recordAttempt } from '../events/attempts.ts';
import { addressKey, callerOf } from '../requests/caller.ts';
import { randomToken } from '../ids.ts';
import { mac } from '../secrets/keys.ts';
import type { Ticket } from './lockout.ts';
import type { AuthParts } from '../parts.ts';
import { DAY, rfc3339, SECOND } from '../time.ts';

const SESSION_LIFETIME = DAY;

/**
 * `POST /api/auth/login {password}`: sign-in of the operator of the hosting server. Failures are
 * counted for each IP address, and together under the limit `host-failed`. Failures of a device
 * that signed in before are counted for that device only. So an attacker cannot lock the operator
 * out, not even from many addresses.
 */
export function createHostLogin(parts: AuthParts): Handler {
  const stored = hostHash(parts);
  return async ({ context, koa, body }) => {
    if (parts.config.host === null) throw failure.forbidden('Setup required');
    const attempt: HostAttempt = {
      context,
      koa,
      identifierHash: hostIdentifier(parts),
      device: hostDevice(parts, koa),
    };
    await check(parts, attempt, body.password, await stored());
    const { token, exp } = await openHostSession(parts, context);
    parts.hostDevices.give(koa, attempt.identifierHash);
    return reply(200, { token, accessToken: token, exp, expiresAt: rfc3339(exp * SECOND) });
  };
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
function hostHash({ config, passwords }: AuthParts): () => Promise<string> {
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
  const { locked, until, failures } = await ticket.fail();
  await note(parts, attempt, 'failure', 'bad_credentials');
  if (locked)
    await parts.events.emit(callerOf(context), 'auth.locked', null, {
      until: rfc3339(until),
      failures,
      host: true,
    });
  throw failure.unauthenticated('Invalid password');
}

async function note(
  parts: AuthParts,
  { context, identifierHash }: HostAttempt,
  outcome: 'failure' | 'blocked',
  reason: string,
): Promise<void> {
  const caller = callerOf(context);
  await parts.events.transact(caller, async (trx, emit) => {
    await recordAttempt(trx, parts.kernel.now(), caller, {
      kind: 'host',
      outcome,
      reason,
      identifierHash,
      identifier: null,
      userId: null,
      sessionId: null,
    });
    emit('auth.login.failed', null, { reason, host: true });
  });
}

async function openHostSession(
  parts: AuthParts,
  context: RequestContext,
): Promise<{ token: string; exp: number }> {
  const caller = { ...callerOf(context), actor: { kind: 'host' as const, id: null } };
  const { session } = await parts.events.transact(caller, async (trx, emit) => {
    const opened = await parts.sessions.open(trx, caller, {
      userId: null,
      method: 'host',
      lifetime: SESSION_LIFETIME,
    });
    await recordAttempt(trx, parts.kernel.now(), caller, {
      kind: 'host',
      outcome: 'success',
      reason: null,
      identifierHash: null,
      identifier: null,
      userId: null,
      sessionId: opened.session.id,
    });
    emit('auth.login.succeeded', null, { method: 'host', session_id: opened.session.id });
    return opened;
  });
  const iat = Math.floor(parts.kernel.now() / SECOND);
  const exp = iat + SESSION_LIFETIME / SECOND;
  return {
    token: parts.hostTokens.sign({
      scope: 'host',
      exp,
      iat,
      jti: randomToken(16),
      sid: session.id,
    }),
    exp,
  };
}
