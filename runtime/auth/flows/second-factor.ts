import { failure } from '@twofold/runtime/errors';
import { type Call, reply, type Reply } from '@twofold/runtime/http';
import { flag, list, object, text } from '@twofold/schema/shapes';
import { encodeQR } from 'qr';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { assertProof } from '../requests/proof.ts';
import { forgetDevices, rememberDevice } from '../second-factor/devices.ts';
import { hasPasskey, proveFactor, type ProvenFactor } from '../second-factor/factors.ts';
import {
  makeRecoverySet,
  type RecoverySet,
  removeRecoveryCodes,
  storeRecoverySet,
} from '../second-factor/recovery-codes.ts';
import { newSecret, otpauthUrl, pendingSecret, sealSecret, stepOf } from '../second-factor/totp.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { advance } from '../steps/advance.ts';
import { answerUnderLockout, invalidCode, WrongAnswer } from '../steps/code-attempt.ts';
import { countEnrolment, enroll, type Enroller, readEnroller } from '../steps/enrolment.ts';
import { forClient } from '../steps/enter-application.ts';
import { type Entry, isSecondFactorRequired, type StepWrites } from '../steps/entry.ts';
import { isMailedCode } from '../steps/mailed-code.ts';
import { countAnswer, type HeldTicket, readTicket, useTicket } from '../steps/tickets.ts';
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
  handle: (call, parts) => answerStep(parts, call),
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
  async handle(call, parts) {
    const { account } = await readEnroller(parts, call);
    const secret = newSecret();
    await parts.directory.update(parts.kernel.store.db, account.id, {
      totp_pending: sealSecret(parts, account.id, secret),
      totp_pending_at: parts.kernel.now(),
    });
    const app = parts.kernel.project.name;
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
  async handle(call, parts) {
    const enroller = await readEnroller(parts, call);
    const { account } = enroller;
    const secret = await pendingSecret(parts, account.id);
    if (secret === null) throw invalidToken();
    await countEnrolment(parts, enroller);
    const step = stepOf(secret, call.body.code, parts.kernel.now());
    if (step === null) throw invalidCode();
    const set = await newSet(parts, call, account.id);
    const writes = enabling(parts, enroller, { secret, step, set });
    const { status, fields } = await enroll(parts, call, enroller, { amr: ['otp'], writes });
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
  async handle({ context }, parts) {
    const { account } = await assertProof(parts, context);
    if (account.totpSince === null) throw failure.notFound();
    await parts.events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
      await parts.directory.serialise(trx);
      const passkey = await hasPasskey(parts, trx, account.id);
      const required = isSecondFactorRequired(parts.model, account);
      if (required && !passkey) throw failure.forbidden();
      await parts.directory.update(trx, account.id, {
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
  async handle(call, parts) {
    const { account } = await readEnroller(parts, call);
    const set = await newSet(parts, call, account.id);
    const caller = asUser(callerOf(call.context), account.id);
    await parts.events.transact(caller, async (trx, emit) => {
      await storeRecoverySet(trx, account.id, set, parts.kernel.now());
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
  parts: AuthParts,
  enroller: Enroller,
  { secret, step, set }: { secret: string; step: number; set: RecoverySet },
): StepWrites {
  const { id } = enroller.account;
  const keep = 'sessionId' in enroller ? enroller.sessionId : undefined;
  return async (trx, emit) => {
    const now = parts.kernel.now();
    await parts.directory.update(trx, id, {
      totp_sealed: sealSecret(parts, id, secret),
      totp_step: step,
      totp_confirmed_at: now,
      totp_pending: null,
      totp_pending_at: null,
    });
    await storeRecoverySet(trx, id, set, now);
    await forgetDevices(trx, id);
    const ended = await parts.sessions.endAll(trx, id, 'second factor added', keep);
    emit('totp.enabled', id, { sessions_ended: ended });
    emit('recovery_codes.created', id, { reason: 'totp enabled' });
  };
}

/** Ten codes. Their ten hashes cost CPU time, so a user makes at most ten sets an hour. */
async function newSet(parts: AuthParts, { koa }: Call, userId: UserId): Promise<RecoverySet> {
  await parts.limits.enforce(koa, [{ policy: 'recovery-codes', subject: `user:${userId}` }]);
  return makeRecoverySet(parts.passwords);
}

/**
 * `POST /api/auth/second-factor {ticket, code | recovery_code | credential, remember_device?}`: the
 * answer to a step. It answers what the first request would have, or with the next step.
 */
async function answerStep(parts: AuthParts, call: Call): Promise<Reply> {
  requireApiKey(parts, call.context);
  const held = await readTicket(parts, call.body.ticket, ['second_factor', 'email_code']);
  const { account } = held.entry;
  const identifierHash = identifierOf(parts, account.email);
  const kind = 'second_factor' as const;
  const attempt = { call, identifierHash, account, kind, error: invalidCode };
  return answerUnderLockout(parts, attempt, async () => {
    const proven = await prove(parts, call, held);
    return complete(parts, call, held, proven);
  });
}

/** Checks the answer to the step of the ticket. @throws WrongAnswer */
async function prove(parts: AuthParts, call: Call, held: HeldTicket): Promise<ProvenFactor> {
  await countAnswer(parts, held.token);
  if (held.next === 'second_factor') return proveFactor(parts, call, held.entry.account);
  if (!isMailedCode(parts, held, call.body.code)) throw new WrongAnswer();
  return { amr: ['email'], writes: async () => {} };
}

async function complete(
  parts: AuthParts,
  call: Call,
  { token, next, entry }: HeldTicket,
  { amr, passkey, writes }: ProvenFactor,
): Promise<Reply> {
  let sendDevice: (() => void) | null = null;
  const remembers = call.body.remember_device === true && next === 'second_factor';
  const all: StepWrites = async (trx, emit) => {
    await useTicket(parts, trx, token);
    await writes(trx, emit);
    if (remembers) sendDevice = await rememberDevice(parts, call, entry.account.id, { trx, emit });
  };
  const proved: Entry = {
    ...entry,
    amr: [...entry.amr, ...amr],
    ...(passkey !== undefined && { passkey }),
    writes: all,
  };
  const answer = await advance(parts, call, forClient(proved, call.body));
  (sendDevice as (() => void) | null)?.();
  return answer;
}
