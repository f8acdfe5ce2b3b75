import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../caller.ts';
import { deviceKind } from '../device-kind.ts';
import type { AuthParts } from '../parts.ts';
import { assertProof } from '../proof.ts';
import { signedInAccount } from '../reauthentication.ts';
import { isUniqueViolation } from '../register.ts';
import { assertOtherMethod } from '../sign-in-methods.ts';
import type { Account } from '../user-directory.ts';
import { creationOptions, issueChallenge, relyingParty, takeChallenge } from './challenges.ts';
import { passkeyLoginHandlers } from './passkey-login.ts';
import {
  ensureHandle,
  findPasskey,
  handleOf,
  insertPasskey,
  MAX_PASSKEYS,
  type PasskeyRow,
  passkeysOf,
  showPasskey,
} from './passkey-store.ts';
import { type NewPasskey, readClientData, verifyNew } from './webauthn.ts';

const notFound = () => failure.notFound('Passkey not found');
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
    const { userAgent } = callerOf(context);
    const name = body.name?.trim() || deviceKind(userAgent).slice(0, 64) || 'Passkey';
    const row = await save(parts, asUser(callerOf(context), account.id), account, {
      passkey,
      name,
    }).catch((error: unknown) => {
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
  { events, directory, kernel }: AuthParts,
  caller: ReturnType<typeof callerOf>,
  account: Account,
  { passkey, name }: { passkey: NewPasskey; name: string },
): Promise<PasskeyRow> {
  return events.transact(caller, async (trx, emit) => {
    await directory.serialise(trx);
    if ((await passkeysOf(trx, account.id)).length >= MAX_PASSKEYS) throw tooMany();
    const row = await insertPasskey(trx, account.id, { passkey, name, now: kernel.now() });
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
    const name = String(body.name).trim();
    if (name === '') throw failure.badRequest('name is required');
    const { numUpdatedRows } = await db
      .updateTable('auth_passkeys')
      .set({ name })
      .where('id', '=', params['id'])
      .where('user_id', '=', account.id)
      .executeTakeFirst();
    const row = Number(numUpdatedRows) === 1 ? await findPasskey(db, params['id'] ?? '') : null;
    if (!row) throw notFound();
    return reply(200, showPasskey(row));
  };
}

function createRemove(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const { account } = await assertProof(parts, context);
    await parts.events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
      await parts.directory.serialise(trx);
      const row = await findPasskey(trx, params['id'] ?? '');
      if (!row || row.user_id !== account.id) throw notFound();
      await trx.deleteFrom('auth_passkeys').where('id', '=', row.id).execute();
      await assertOtherMethod(parts, trx, account.id);
      emit('passkey.removed', account.id, { passkey_id: row.id, name: row.name });
    });
    return reply(204);
  };
}
