import { encodeQR } from 'qr';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { invalidCode } from '../steps/code-attempt.ts';
import { countEnrolment, enroll, type Enroller, readEnroller } from '../steps/enrolment.ts';
import { isSecondFactorRequired, type StepWrites } from '../steps/entry.ts';
import type { UserId } from '../ids.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { forgetDevices } from './devices.ts';
import { hasPasskey } from './factors.ts';
import {
  makeRecoverySet,
  type RecoverySet,
  removeRecoveryCodes,
  storeRecoverySet,
} from './recovery-codes.ts';
import { newSecret, otpauthUrl, pendingSecret, sealSecret, stepOf } from './totp.ts';

/** Routes that switch TOTP on and off and make recovery codes. */
export function totpHandlers(parts: AuthParts) {
  return {
    startTotp: createStart(parts),
    confirmTotp: createConfirm(parts),
    removeTotp: createRemove(parts),
    createRecoveryCodes: createCodes(parts),
  };
}

/** A new secret. It has no effect before `confirm`, so an app that is set up keeps working. */
function createStart(parts: AuthParts): Handler {
  return async (call) => {
    const { account } = await readEnroller(parts, call);
    const secret = newSecret();
    await parts.directory.update(parts.kernel.store.db, account.id, {
      totp_pending: sealSecret(parts, account.id, secret),
      totp_pending_at: parts.kernel.now(),
    });
    const app = parts.kernel.project.name;
    const otpauth_url = otpauthUrl(secret, { app, email: account.email });
    return reply(200, { secret, otpauth_url, qr: qrOf(otpauth_url) });
  };
}

/** A QR code on white, since scanners do not read a dark background. */
function qrOf(text: string): string {
  const svg = encodeQR(text, 'svg', { ecc: 'medium', border: 4 });
  const white = svg.replace('>', '><rect width="100%" height="100%" fill="#fff"/>');
  return `data:image/svg+xml;base64,${Buffer.from(white).toString('base64')}`;
}

function createConfirm(parts: AuthParts): Handler {
  return async (call) => {
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
  };
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

function createRemove(parts: AuthParts): Handler {
  return async ({ context }) => {
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
  };
}

function createCodes(parts: AuthParts): Handler {
  return async (call) => {
    const { account } = await readEnroller(parts, call);
    const set = await newSet(parts, call, account.id);
    const caller = asUser(callerOf(call.context), account.id);
    await parts.events.transact(caller, async (trx, emit) => {
      await storeRecoverySet(trx, account.id, set, parts.kernel.now());
      emit('recovery_codes.created', account.id, {});
    });
    return reply(200, { recovery_codes: set.codes });
  };
}

/** Ten codes. Their ten hashes cost CPU time, so a user makes at most ten sets an hour. */
async function newSet(parts: AuthParts, { koa }: Call, userId: UserId): Promise<RecoverySet> {
  await parts.limits.enforce(koa, [{ policy: 'recovery-codes', subject: `user:${userId}` }]);
  return makeRecoverySet(parts.passwords);
}
