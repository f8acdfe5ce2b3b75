import { removeRecoveryCodes } from '../second-factor/recovery-codes.ts';
import type { Db, Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Handler, reply } from '@twofold/runtime/http';
import { refuseImpersonation } from '../users/authority.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { deviceKind } from '../sign-in/device-kind.ts';
import { countEnrolment, enroll, type Enroller, readEnroller } from '../steps/enrolment.ts';
import { isSecondFactorRequired, type StepWrites } from '../steps/entry.ts';
import { checkText } from '../sign-in/identity-rules.ts';
import { digest, type UserId } from '../ids.ts';
import { requireApiKey } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../requests/proof.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import type { RightsChange } from '../users/roles.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import { assertOtherMethod } from '../sign-in/sign-in-methods.ts';
import { readTicket } from '../steps/tickets.ts';
import type { Account } from '../users/user-directory.ts';
import {
  creationOptions,
  issueChallenge,
  relyingParty,
  requestOptions,
  takeChallenge,
} from './challenges.ts';
import { passkeyLoginHandlers } from './passkey-login.ts';
import {
  ensureHandle,
  handleOf,
  insertPasskey,
  MAX_PASSKEYS,
  type PasskeyRow,
  passkeysOf,
  showPasskey,
} from './passkey-store.ts';
import { type NewPasskey, readClientData, verifyNew } from './webauthn.ts';

const tooMany = () =>
  failure.conflict(`Too many passkeys: remove one of the ${MAX_PASSKEYS} before you add another`);
const invalid = () => failure.unauthenticated('Invalid credentials');

/** The routes of passkeys. */
export function passkeyHandlers(parts: AuthParts) {
  return {
    passkeyOptions: createOptions(parts),
    secondFactorOptions: createSecondFactorOptions(parts),
    reauthenticateOptions: createReauthenticateOptions(parts),
    addPasskey: createAdd(parts),
    passkeys: listHandler(parts),
    renamePasskey: createRename(parts),
    removePasskey: createRemove(parts),
    ...passkeyLoginHandlers(parts),
  };
}

function createOptions(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async (call) => {
    relyingParty(parts);
    const enroller = await readEnroller(parts, call);
    const { account } = enroller;
    const known = await passkeysOf(db, account.id);
    if (known.length >= MAX_PASSKEYS) throw tooMany();
    const handle = await ensureHandle(db, account.id);
    const data = { for: proofOf(enroller) };
    const challenge = await issueChallenge(parts, 'passkey_new', account.id, data);
    const { email: name } = account;
    const displayName = [account.first_name, account.last_name].filter(Boolean).join(' ') || name;
    const user = { handle, name, displayName };
    return reply(200, await creationOptions(parts, user, { challenge, known }));
  };
}

/** What a challenge is bound to: the session that had a proof, or the ticket. */
const proofOf = (enroller: Enroller): string =>
  'sessionId' in enroller ? enroller.sessionId : digest(enroller.ticket.token);

/** The proof was asked for with the options, so a slow user does not lose the passkey they made. */
const readAdder = (parts: AuthParts, call: Call): Promise<Enroller> =>
  call.body.ticket === undefined ? signedInAccount(parts, call.context) : readEnroller(parts, call);

function createAdd(parts: AuthParts): Handler {
  return async (call) => {
    const { context, body } = call;
    relyingParty(parts);
    const enroller = await readAdder(parts, call);
    await countEnrolment(parts, enroller);
    const passkey = await readNew(parts, body.credential, enroller);
    const { userAgent } = callerOf(context);
    const name = checkText('name', body.name) || deviceKind(userAgent).slice(0, 64) || 'Passkey';
    const saved: PasskeyRow[] = [];
    const writes: StepWrites = async (trx, emit) => {
      saved.push(await save(parts, { trx, emit }, enroller.account, { passkey, name }));
    };
    const added = enroll(parts, call, enroller, { amr: ['hwk', 'user'], writes });
    const { status, fields } = await added.catch((error: unknown) => {
      throw isUniqueViolation(error) ? failure.conflict('Passkey already registered') : error;
    });
    return reply(status === 202 ? 202 : 201, { ...showPasskey(saved.at(-1)!), ...fields });
  };
}

/**
 * Checks a new passkey against the challenge that was given under proof, or for the ticket.
 *
 * @throws AppError 401
 */
async function readNew(
  parts: AuthParts,
  credential: Parameters<typeof verifyNew>[0],
  enroller: Enroller,
): Promise<NewPasskey> {
  const party = relyingParty(parts);
  const client = readClientData(credential.response.clientDataJSON);
  const { db } = parts.kernel.store;
  const taken = client && (await takeChallenge(parts, db, 'passkey_new', client.challenge));
  if (!client || !taken || client.crossOrigin) throw invalid();
  if (taken.userId !== enroller.account.id || taken.data['for'] !== proofOf(enroller))
    throw invalid();
  return verifyNew(credential, client.challenge, party).catch(() => {
    throw invalid();
  });
}

async function save(
  parts: AuthParts,
  { trx, emit }: Pick<RightsChange, 'trx' | 'emit'>,
  account: Account,
  { passkey, name }: { passkey: NewPasskey; name: string },
): Promise<PasskeyRow> {
  await parts.directory.serialise(trx);
  const known = await passkeysOf(trx, account.id);
  if (known.length >= MAX_PASSKEYS) throw tooMany();
  if (known.length === 0) await endEarlyCodes(parts, trx, account);
  const row = await insertPasskey(trx, account.id, { passkey, name, now: parts.kernel.now() });
  emit('passkey.added', account.id, { passkey_id: row.id, name });
  return row;
}

/**
 * Removes recovery codes that were made before the first factor: an intruder who knows the password
 * may have made them with a ticket, to sign in with them once a factor is asked for.
 */
async function endEarlyCodes(
  { directory }: AuthParts,
  trx: RightsChange['trx'],
  { id }: Account,
): Promise<void> {
  const current = await directory.find(trx, id);
  if (current?.totpSince === null) await removeRecoveryCodes(trx, id);
}

function createSecondFactorOptions(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    requireApiKey(parts, context);
    relyingParty(parts);
    const { entry } = await readTicket(parts, body.ticket, ['second_factor']);
    return reply(200, await requestOptions(parts, 'passkey_second_factor', entry.account.id));
  };
}

function createReauthenticateOptions(parts: AuthParts): Handler {
  return async ({ context }) => {
    refuseImpersonation(context);
    relyingParty(parts);
    const { account } = await signedInAccount(parts, context);
    return reply(200, await requestOptions(parts, 'passkey_reauthentication', account.id));
  };
}

function listHandler(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async ({ context }) => {
    const { id: rp_id } = relyingParty(parts);
    const { account } = await signedInAccount(parts, context);
    const passkeys = (await passkeysOf(db, account.id)).map(showPasskey);
    const user_handle = await handleOf(db, account.id);
    return reply(200, { passkeys, total: passkeys.length, rp_id, user_handle });
  };
}

function createRename(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async ({ context, params, body }) => {
    const { account } = await assertProof(parts, context);
    const row = await findOwn(db, account.id, params['id']);
    const name = checkText('name', body.name);
    if (!name) throw failure.invalid('name is required');
    await db.updateTable('auth_passkeys').set({ name }).where('id', '=', row.id).execute();
    return reply(200, showPasskey({ ...row, name }));
  };
}

function createRemove(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const { account } = await assertProof(parts, context);
    await parts.events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
      await parts.directory.serialise(trx);
      const row = await findOwn(trx, account.id, params['id']);
      await trx.deleteFrom('auth_passkeys').where('id', '=', row.id).execute();
      await assertOtherMethod(parts, trx, account.id);
      await assertFactorLeft(parts, trx, account);
      emit('passkey.removed', account.id, { passkey_id: row.id, name: row.name });
    });
    return reply(204);
  };
}

/** A passkey of another user gets the same response as an unknown one. @throws AppError 404 */
async function findOwn(db: Db, userId: UserId, id = ''): Promise<PasskeyRow> {
  const row = (await passkeysOf(db, userId)).find((each) => each.id === id);
  if (!row) throw failure.notFound('Passkey not found');
  return row;
}

/**
 * Without any factor left, somebody who knows the password could add a factor of their own.
 *
 * @throws AppError 403 where a second factor is required and none is left.
 */
async function assertFactorLeft(parts: AuthParts, trx: Trx, account: Account): Promise<void> {
  if (!isSecondFactorRequired(parts.model, account) || account.totpSince !== null) return;
  if (!(await hasPasskey(parts, trx, account.id))) throw failure.forbidden();
}
