import type { OwnApplication, RequestContext } from '@twofold/runtime/kernel';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { Context as KoaContext } from 'koa';
import type { Trx } from '../base/tables.ts';
import type { AuthState } from '../state.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { giveDevice, hostDevice, hostIdentifier } from '../limits/identifier.ts';
import { noteAttempt, recordAttempt } from '../events/attempts.ts';
import { addressKey, callerOf, HOST } from '../base/caller.ts';
import type { Ticket } from '../limits/lockout.ts';
import { rfc3339 } from '../base/time.ts';
import { admitsHost, clientOf } from '../sessions/client.ts';
import { deliverHostLogin, hostLifetimes } from '../sessions/host-session.ts';
import type { Session } from '../sessions/sessions.ts';

/**
 * `POST /api/auth/login {password}`: sign-in of the operator of the hosting server. Failures are
 * counted for each IP address, and together under the limit `host-failed`. Failures of a device
 * that signed in before are counted for that device only. So an attacker cannot lock the operator
 * out, not even from many addresses.
 */
export async function signInHost(auth: AuthState, { context, koa, body }: Call): Promise<Reply> {
  if (body.code) return enterByLink(auth, { context, koa }, body.code, clientOf(body));
  if (auth.config.host === null) throw failure.forbidden('Setup required');
  const attempt: HostAttempt = {
    context,
    koa,
    identifierHash: hostIdentifier(auth),
    device: hostDevice(auth, koa),
  };
  const client = clientOf(body);
  await check(auth, attempt, body.password, await auth.passwords.operator());
  if (!admitsHost(auth, client)) await refuseEntry(auth, attempt, client!);
  const current = await openHostSession(auth, context, client);
  giveDevice(auth, koa, attempt.identifierHash, 'host_device');
  return reply(200, deliverHostLogin(auth, koa, { current, generation: current.gen }));
}

/** Signs in with the code of a link, which who reads the server's log or its database has. */
async function enterByLink(
  auth: AuthState,
  { context, koa }: Pick<Call, 'context' | 'koa'>,
  code: string,
  client: string | null,
): Promise<Reply> {
  if (!admitsHost(auth, client)) throw failure.forbidden();
  const current = await openHostSession(auth, context, client, (trx) =>
    useHostLink(auth, trx, code, client),
  );
  return reply(200, deliverHostLogin(auth, koa, { current, generation: current.gen }));
}

/** One attempt to sign in as the operator. */
interface HostAttempt {
  readonly context: RequestContext;
  readonly koa: KoaContext;
  readonly identifierHash: string;
  /** The key under which failures of a known device are counted; null for an unknown device. */
  readonly device: string | null;
}

async function check(
  auth: AuthState,
  attempt: HostAttempt,
  password: string,
  stored: string,
): Promise<void> {
  const ticket = await enter(auth, attempt);
  try {
    if (await auth.passwords.verify(password, stored)) return void (await ticket.succeed());
    await refuse(auth, attempt, ticket);
  } finally {
    ticket.release();
  }
}

async function enter(auth: AuthState, attempt: HostAttempt): Promise<Ticket> {
  const { context, koa, identifierHash, device } = attempt;
  if (device === null)
    await auth.limits.enforce(koa, [{ policy: 'host-failed', subject: 'host', peek: true }]);
  const bucket = device ?? `ip:${addressKey(context.ip)}`;
  try {
    return await auth.lockout.enter({ identifierHash, bucket }, context.signal);
  } catch (error) {
    if (error instanceof AppError && error.status === 423)
      await note(auth, attempt, 'blocked', 'locked');
    throw error;
  }
}

async function refuse(auth: AuthState, attempt: HostAttempt, ticket: Ticket): Promise<never> {
  const { context, device } = attempt;
  if (device === null) await auth.limits.allows({ policy: 'host-failed', subject: 'host' });
  const subject = device ?? addressKey(context.ip);
  await auth.limits.allows({ policy: 'login-failed-ip', subject });
  const { keep } = auth.store;
  const { locked, until, failures } = await keep(() => ticket.fail());
  await note(auth, attempt, 'failure', 'bad_credentials');
  if (locked)
    await keep(() =>
      auth.events.emit(callerOf(context), 'auth.locked', null, {
        until: rfc3339(until),
        failures,
        host: true,
      }),
    );
  throw failure.unauthenticated('Invalid password');
}

async function refuseEntry(auth: AuthState, attempt: HostAttempt, client: string): Promise<never> {
  await note(auth, attempt, 'blocked', client);
  throw failure.forbidden();
}

async function note(
  auth: AuthState,
  { context, identifierHash }: HostAttempt,
  outcome: 'failure' | 'blocked',
  reason: string,
): Promise<void> {
  const attempt = { kind: 'host', outcome, reason, identifierHash } as const;
  await noteAttempt(auth, callerOf(context), attempt, (emit) =>
    emit('auth.login.failed', null, { reason, host: true }),
  );
}

async function openHostSession(
  auth: AuthState,
  context: RequestContext,
  client: string | null,
  before?: (trx: Trx) => Promise<void>,
): Promise<Session> {
  const caller = { ...callerOf(context), actor: HOST };
  return auth.events.transact(caller, async ({ trx, emit }) => {
    await before?.(trx);
    const { session } = await auth.sessions.open(trx, caller, {
      userId: null,
      method: 'host',
      lifetimes: hostLifetimes(auth, client),
      ...(client !== null && { client }),
    });
    await recordAttempt(trx, auth, caller, {
      kind: 'host',
      outcome: 'success',
      sessionId: session.id,
    });
    emit('auth.login.succeeded', null, { method: 'host', session_id: session.id });
    return session;
  });
}

/**
 * A link that signs the operator in to an application, once, for ten minutes. The code stands behind
 * `#`, so that it is in no access log and no `Referer`.
 *
 * @example await hostLink(auth, application) // 'http://localhost:8080/console#code=…'
 */
export async function hostLink(auth: AuthState, { client, path }: OwnApplication): Promise<string> {
  const options = { data: { client }, newestOnly: false };
  const code = await auth.oneTime.issue(auth.db, 'host_link', null, options);
  return `${auth.config.appUrl}${path}#code=${code}`;
}

/**
 * A link for the operator, or why there can be none: the application is absent or closed, or does
 * not let them in.
 */
export type EntryLink =
  | { readonly ok: true; readonly link: string }
  | { readonly ok: false; readonly reason: 'absent' | 'closed' | 'host' };

/** Makes the link for an application that the operator may enter now. */
export async function linkTo(auth: AuthState, client: string): Promise<EntryLink> {
  const application = auth.applications.get(client);
  if (!application) return { ok: false, reason: 'absent' };
  if (!application.open) return { ok: false, reason: 'closed' };
  if (!application.host) return { ok: false, reason: 'host' };
  return { ok: true, link: await hostLink(auth, application) };
}

/** Redeems the code of a link for the operator. @throws AppError 400 `Invalid or expired token` */
export async function useHostLink(
  auth: AuthState,
  trx: Trx,
  code: string,
  client: string | null,
): Promise<void> {
  const { data } = await auth.oneTime.consume(trx, 'host_link', code);
  if (client === null || data['client'] !== client) throw invalidToken();
}
