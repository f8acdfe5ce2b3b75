import type { RequestContext } from '../context/request-context.ts';
import type { Context as KoaContext } from 'koa';
import { AppError, failure } from '../errors.ts';
import { type Handler, reply } from '../http/route.ts';
import { recordAttempt } from './attempts.ts';
import { addressKey, callerOf } from './caller.ts';
import { randomToken } from './ids.ts';
import { mac } from './keys.ts';
import type { AuthParts } from './parts.ts';
import { DAY, rfc3339, SECOND } from './time.ts';

const LIFETIME = DAY;

/**
 * `POST /api/auth/login {password}`: the operator of the hosting server, contract section 2.15. Failures count for each
 * address by itself, so that one attacker cannot lock the operator out, and all of them under one ceiling.
 */
export function createHostLogin(parts: AuthParts): Handler {
  const stored = hostHash(parts);
  return async ({ context, koa, body }) => {
    if (parts.config.host === null) throw failure.forbidden('Setup required');
    await check(parts, context, koa, body.password, await stored());
    const { token, exp } = await openHostSession(parts, context);
    return reply(200, { token, accessToken: token, exp, expiresAt: rfc3339(exp * SECOND) });
  };
}

/** A password in the clear is hashed once, on first use, with the cost in force. */
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
  context: RequestContext,
  koa: KoaContext,
  password: string,
  stored: string,
): Promise<void> {
  await parts.limits.enforce(koa, [{ policy: 'host-failed', subject: 'host', peek: true }]);
  const key = {
    identifierHash: mac(parts.identifierKey, 'host'),
    bucket: `ip:${addressKey(context.ip)}`,
  };
  const ticket = await parts.lockout.enter(key, context.signal).catch((error: unknown) => {
    if (error instanceof AppError && error.status === 423)
      return note(parts, context, 'blocked', 'locked', key.identifierHash).then(() =>
        Promise.reject(error),
      );
    throw error;
  });
  try {
    if (await parts.passwords.verify(password, stored)) return void (await ticket.succeed());
    await parts.limits.allows({ policy: 'host-failed', subject: 'host' });
    await parts.limits.allows({ policy: 'login-failed-ip', subject: addressKey(context.ip) });
    const { locked, until, failures } = await ticket.fail();
    await note(parts, context, 'failure', 'bad_credentials', key.identifierHash);
    if (locked)
      await parts.events.emit(callerOf(context), 'auth.locked', null, {
        until: rfc3339(until),
        failures,
        host: true,
      });
    throw failure.unauthenticated('Invalid password');
  } finally {
    ticket.release();
  }
}

async function note(
  parts: AuthParts,
  context: RequestContext,
  outcome: 'failure' | 'blocked',
  reason: string,
  identifierHash: string,
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
      lifetime: LIFETIME,
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
  const exp = iat + LIFETIME / SECOND;
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
