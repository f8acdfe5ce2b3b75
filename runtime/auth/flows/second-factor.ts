import { failure } from '@twofold/runtime/errors';
import { type Call, reply, type Reply } from '@twofold/runtime/http';
import { flag, list, object, text } from '@twofold/schema/shapes';
import { encodeQR } from 'qr';
import type { StepWrites } from '../events/events.ts';
import {
  makeRecoverySet,
  type RecoverySet,
  removeRecoveryCodes,
  storeRecoverySet,
  WrongAnswer,
} from '../second-factor/recovery-codes.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { assertProof } from '../requests/proof.ts';
import { forgetDevices, rememberDevice } from '../second-factor/devices.ts';
import { hasPasskey, proveFactor, type ProvenFactor } from '../second-factor/factors.ts';
import { newSecret, otpauthUrl, pendingSecret, sealSecret, stepOf } from '../second-factor/totp.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { identifierOf } from '../limits/identifier.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { advance } from '../sign-in/advance.ts';
import { answerUnderLockout, invalidCode, isMailedCode } from '../sign-in/code-attempt.ts';
import { countEnrolment, enroll, type Enroller, readEnroller } from '../sign-in/enrolment.ts';
import { forClient } from '../sign-in/enter-application.ts';
import { type Entry, isSecondFactorRequired } from '../sign-in/entry.ts';
import { countAnswer, type HeldTicket, readTicket, useTicket } from '../sign-in/tickets.ts';
import { flow, SIGNED_IN, UNPROVEN } from './flow.ts';
import { CLIENT, CREDENTIAL, LOGIN, SHORT, STEP, TOKEN } from './shapes.ts';

const codes = { ...list(SHORT), description: 'Shown once' } as const;
const RECOVERY_CODES = object({ recovery_codes: codes }, ['recovery_codes']);
/** `login` is the login object, when a ticket was used. */
const CONFIRMED = object({ recovery_codes: codes, login: LOGIN }, ['recovery_codes']);

const withTicket = { ticket: TOKEN } as const;

export const secondFactor = flow('POST /api/auth/second-factor', {
  needs: 'public',
  limits: ['login-ip'],
  summary: 'Answer the step of a sign-in with a code, a recovery code or a passkey',
  body: object(
    {
      ticket: TOKEN,
      code: SHORT,
      recovery_code: SHORT,
      credential: CREDENTIAL,
      remember_device: flag,
      ...CLIENT,
    },
    ['ticket'],
  ),
  answers: {
    200: ['What the first request would have answered', LOGIN],
    202: ['Another step is left', STEP],
  },
  refuses: {
    400: 'Invalid or expired token',
    401: 'Invalid code',
    423: 'Account locked',
    429: 'Rate limit exceeded',
  },
  handle: (call, auth) => answerStep(auth, call),
});

/** A new secret. It has no effect before `confirm`, so an app that is set up keeps working. */
export const startTotp = flow('POST /api/auth/totp', {
  needs: 'public',
  security: ['bearer'],
  summary: 'A new TOTP secret; it has no effect before it is confirmed',
  optional: true,
  body: object(withTicket),
  answers: {
    200: [
      'The secret in Base32, as an address for apps, and as a QR code (an SVG as data URL)',
      object({ secret: text, otpauth_url: text, qr: text }),
    ],
  },
  refuses: { ...UNPROVEN, ...SIGNED_IN },
  async handle(call, auth) {
    const { account } = await readEnroller(auth, call);
    const secret = newSecret();
    await auth.directory.update(auth.db, account.id, {
      totp_pending: sealSecret(auth, account.id, secret),
      totp_pending_at: auth.now(),
    });
    const app = auth.project.name;
    const otpauth_url = otpauthUrl(secret, { app, email: account.email });
    return reply(200, { secret, otpauth_url, qr: qrOf(otpauth_url) });
  },
});

export const confirmTotp = flow('POST /api/auth/totp/confirm', {
  needs: 'public',
  security: ['bearer'],
  summary: 'Switch TOTP on with a code of the new secret; other sessions end',
  body: object({ code: SHORT, ...withTicket }, ['code']),
  answers: { 200: ['Ten recovery codes', CONFIRMED], 202: ['Another step is left', STEP] },
  refuses: {
    ...UNPROVEN,
    401: 'Invalid code, or no valid bearer token',
    429: 'Rate limit exceeded',
  },
  async handle(call, auth) {
    const enroller = await readEnroller(auth, call);
    const { account } = enroller;
    const secret = await pendingSecret(auth, account.id);
    if (secret === null) throw invalidToken();
    await countEnrolment(auth, enroller);
    const step = stepOf(secret, call.body.code, auth.now());
    if (step === null) throw invalidCode();
    const set = await newSet(auth, call, account.id);
    const writes = enabling(auth, enroller, { secret, step, set });
    const { status, fields } = await enroll(auth, call, enroller, { amr: ['otp'], writes });
    return reply(status, { recovery_codes: set.codes, ...fields });
  },
});

export const removeTotp = flow('DELETE /api/auth/totp', {
  needs: 'proof',
  summary: 'Switch TOTP off',
  answers: { 204: ['Off'] },
  refuses: {
    403: 'Reauthentication required, or a second factor is required',
    404: 'It is off',
    ...SIGNED_IN,
  },
  async handle({ context }, auth) {
    const { account } = await assertProof(auth, context);
    if (account.totpSince === null) throw failure.notFound();
    await auth.events.transact(asUser(callerOf(context), account.id), async ({ trx, emit }) => {
      await auth.directory.serialise(trx);
      const passkey = await hasPasskey(auth, trx, account.id);
      const required = isSecondFactorRequired(auth.model, account);
      if (required && !passkey) throw failure.forbidden();
      await auth.directory.update(trx, account.id, {
        totp_sealed: null,
        totp_step: null,
        totp_confirmed_at: null,
      });
      // Recovery codes replace a second factor. No factor is left that sign-in asks for, so they
      // are removed.
      if (!required) await removeRecoveryCodes(trx, account.id);
      await forgetDevices(trx, account.id);
      emit('totp.disabled', account.id, {});
    });
    return reply(204);
  },
});

export const createRecoveryCodes = flow('POST /api/auth/recovery-codes', {
  needs: 'public',
  security: ['bearer'],
  summary: 'Ten new recovery codes; the old ones are void',
  optional: true,
  body: object(withTicket),
  answers: { 200: ['The codes', RECOVERY_CODES] },
  refuses: { ...UNPROVEN, ...SIGNED_IN, 429: 'Rate limit exceeded' },
  async handle(call, auth) {
    const { account } = await readEnroller(auth, call);
    const set = await newSet(auth, call, account.id);
    const caller = asUser(callerOf(call.context), account.id);
    await auth.events.transact(caller, async ({ trx, emit }) => {
      await storeRecoverySet(trx, account.id, set, auth.now());
      emit('recovery_codes.created', account.id, {});
    });
    return reply(200, { recovery_codes: set.codes });
  },
});

/** A QR code on white, since scanners do not read a dark background. */
function qrOf(text: string): string {
  const svg = encodeQR(text, 'svg', { ecc: 'medium', border: 4 });
  const white = svg.replace('>', '><rect width="100%" height="100%" fill="#fff"/>');
  return `data:image/svg+xml;base64,${Buffer.from(white).toString('base64')}`;
}

/** Switches TOTP on. Other sessions end, and remembered devices are asked for the new factor. */
function enabling(
  auth: AuthState,
  enroller: Enroller,
  { secret, step, set }: { secret: string; step: number; set: RecoverySet },
): StepWrites {
  const { id } = enroller.account;
  const keep = 'sessionId' in enroller ? enroller.sessionId : undefined;
  return async ({ trx, emit }) => {
    const now = auth.now();
    await auth.directory.update(trx, id, {
      totp_sealed: sealSecret(auth, id, secret),
      totp_step: step,
      totp_confirmed_at: now,
      totp_pending: null,
      totp_pending_at: null,
    });
    await storeRecoverySet(trx, id, set, now);
    await forgetDevices(trx, id);
    const ended = await auth.sessions.endAll(trx, id, 'second factor added', keep);
    emit('totp.enabled', id, { sessions_ended: ended });
    emit('recovery_codes.created', id, { reason: 'totp enabled' });
  };
}

/** Ten codes. Their ten hashes cost CPU time, so a user makes at most ten sets an hour. */
async function newSet(auth: AuthState, { koa }: Call, userId: UserId): Promise<RecoverySet> {
  await auth.limits.enforce(koa, [{ policy: 'recovery-codes', subject: `user:${userId}` }]);
  return makeRecoverySet(auth.passwords);
}

/**
 * `POST /api/auth/second-factor {ticket, code | recovery_code | credential, remember_device?}`: the
 * answer to a step. It answers what the first request would have, or with the next step.
 */
async function answerStep(auth: AuthState, call: Call): Promise<Reply> {
  requireApiKey(auth, call.context);
  const held = await readTicket(auth, call.body.ticket, ['second_factor', 'email_code']);
  const { account } = held.entry;
  const identifierHash = identifierOf(auth, account.email);
  const kind = 'second_factor' as const;
  const attempt = { call, identifierHash, account, kind, error: invalidCode };
  return answerUnderLockout(auth, attempt, async () => {
    const proven = await prove(auth, call, held);
    return complete(auth, call, held, proven);
  });
}

/** Checks the answer to the step of the ticket. @throws WrongAnswer */
async function prove(auth: AuthState, call: Call, held: HeldTicket): Promise<ProvenFactor> {
  await countAnswer(auth, held.token);
  if (held.next === 'second_factor') return proveFactor(auth, call, held.entry.account);
  if (!isMailedCode(auth, held, call.body.code)) throw new WrongAnswer();
  return { amr: ['email'], writes: async () => {} };
}

async function complete(
  auth: AuthState,
  call: Call,
  { token, next, entry }: HeldTicket,
  { amr, passkey, writes }: ProvenFactor,
): Promise<Reply> {
  let sendDevice: (() => void) | null = null;
  const remembers = call.body.remember_device === true && next === 'second_factor';
  const all: StepWrites = async (change) => {
    await useTicket(auth, change.trx, token);
    await writes(change);
    if (remembers) sendDevice = await rememberDevice(auth, call, entry.account.id, change);
  };
  const proved: Entry = {
    ...entry,
    amr: [...entry.amr, ...amr],
    ...(passkey !== undefined && { passkey }),
    writes: all,
  };
  const answer = await advance(auth, call, forClient(proved, call.body));
  (sendDevice as (() => void) | null)?.();
  return answer;
}
