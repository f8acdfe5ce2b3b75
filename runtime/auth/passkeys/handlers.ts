import type { Kysely } from 'kysely';
import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, type Caller, callerOf } from '../caller.ts';
import { deviceKind } from '../device-kind.ts';
import { checkText } from '../identity-rules.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../permissions.ts';
import { assertProof } from '../proof.ts';
import { assertStillOpen, signedInAccount } from '../reauthentication.ts';
import { isUniqueViolation } from '../register.ts';
import { assertOtherMethod } from '../sign-in-methods.ts';
import type { Account } from '../user-directory.ts';
import { creationOptions, issueChallenge, relyingParty, takeChallenge } from './challenges.ts';
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
    addPasskey: createAdd(parts),
    passkeys: createList(parts),
    renamePasskey: createRename(parts),
    removePasskey: createRemove(parts),
    ...passkeyLoginHandlers(parts),
  };
}

function createOptions(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async ({ context }) => {
    relyingParty(parts);
    const { account, sessionId } = await assertProof(parts, context);
    const known = await passkeysOf(db, account.id);
    if (known.length >= MAX_PASSKEYS) throw tooMany();
    const handle = await ensureHandle(db, account.id);
    const challenge = await issueChallenge(parts, 'passkey_new', account.id, { sessionId });
    const { email: name } = account;
    const displayName = [account.first_name, account.last_name].filter(Boolean).join(' ') || name;
    return reply(
      200,
      await creationOptions(parts, { handle, name, displayName }, { challenge, known }),
    );
  };
}

function createAdd(parts: AuthParts): Handler {
  return async ({ context, body }) => {
    const { account, sessionId } = await signedInAccount(parts, context);
    const passkey = await readNew(parts, body.credential, { account, sessionId });
    const caller = asUser(callerOf(context), account.id);
    const name =
      checkText('name', body.name) || deviceKind(caller.userAgent).slice(0, 64) || 'Passkey';
    const saved = save(parts, caller, { account, sessionId }, { passkey, name });
    const row = await saved.catch((error: unknown) => {
      throw isUniqueViolation(error) ? failure.conflict('Passkey already registered') : error;
    });
    return reply(201, showPasskey(row));
  };
}

/**
 * Checks a new passkey against the challenge that this session asked for under proof.
 *
 * @throws AppError 401
 */
async function readNew(
  parts: AuthParts,
  credential: Parameters<typeof verifyNew>[0],
  { account, sessionId }: { account: Account; sessionId: string },
): Promise<NewPasskey> {
  const party = relyingParty(parts);
  const client = readClientData(credential.response.clientDataJSON);
  const { db } = parts.kernel.store;
  const taken = client && (await takeChallenge(parts, db, 'passkey_new', client.challenge));
  if (!client || !taken || client.crossOrigin) throw invalid();
  if (taken.userId !== account.id || taken.data['sessionId'] !== sessionId) throw invalid();
  return verifyNew(credential, client.challenge, party).catch(() => {
    throw invalid();
  });
}

function save(
  parts: AuthParts,
  caller: Caller,
  { account, sessionId }: { account: Account; sessionId: string },
  { passkey, name }: { passkey: NewPasskey; name: string },
): Promise<PasskeyRow> {
  return parts.events.transact(caller, async (trx, emit) => {
    await parts.directory.serialise(trx);
    await serialiseRights(trx, parts.kernel.store.dialect);
    await assertStillOpen(parts, trx, sessionId);
    if ((await passkeysOf(trx, account.id)).length >= MAX_PASSKEYS) throw tooMany();
    const row = await insertPasskey(trx, account.id, { passkey, name, now: parts.kernel.now() });
    emit('passkey.added', account.id, { passkey_id: row.id, name });
    return row;
  });
}

function createList(parts: AuthParts): Handler {
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
      emit('passkey.removed', account.id, { passkey_id: row.id, name: row.name });
    });
    return reply(204);
  };
}

/** A passkey of another user gets the same response as an unknown one. @throws AppError 404 */
async function findOwn(db: Kysely<any>, userId: UserId, id = ''): Promise<PasskeyRow> {
  const row = (await passkeysOf(db, userId)).find((each) => each.id === id);
  if (!row) throw failure.notFound('Passkey not found');
  return row;
}
