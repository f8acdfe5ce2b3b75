import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { flag, list, object, orNull, text } from '@twofold/schema/shapes';
import type { Change, StepWrites } from '../events/events.ts';
import { digest, type UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import {
  creationOptions,
  issueChallenge,
  relyingParty,
  requestOptions,
  takeChallenge,
} from '../passkeys/challenges.ts';
import { signInByPasskey } from '../sign-in/passkey-login.ts';
import {
  ensureHandle,
  handleOf,
  insertPasskey,
  MAX_PASSKEYS,
  type PasskeyRow,
  passkeysOf,
  showPasskey,
} from '../passkeys/passkey-store.ts';
import { type NewPasskey, readClientData, verifyNew } from '../passkeys/webauthn.ts';
import { asUser, callerOf, deviceKind } from '../base/caller.ts';
import { assertProof, signedInAccount } from '../requests/proof.ts';
import { hasPasskey } from '../second-factor/factors.ts';
import { removeRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { checkText } from '../base/identity-rules.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { isUniqueViolation } from '../sign-in/register.ts';
import { assertOtherMethod } from '../sign-in/ended-access.ts';
import { countEnrolment, enroll, type Enroller, readEnroller } from '../sign-in/enrolment.ts';
import { isSecondFactorRequired } from '../sign-in/entry.ts';
import { readTicket } from '../sign-in/tickets.ts';
import type { Db, Trx } from '../base/tables.ts';
import { refuseImpersonation } from '../requests/authority.ts';
import type { Account } from '../users/user-directory.ts';
import { flow, LOGGED_IN, PROOF, SIGNED_IN } from './flow.ts';
import { CLIENT, CREDENTIAL, NEW_CREDENTIAL, SHORT, STEP, TIME, TOKEN, WHOLE } from './shapes.ts';

/** A passkey as its owner sees it. */
const PASSKEY = object(
  {
    id: { ...text, maxLength: 1364 },
    name: SHORT,
    created_at: TIME,
    last_used_at: TIME,
    backed_up: { ...flag, description: 'Whether it is kept in a password manager' },
    transports: list({ ...text, maxLength: 32 }),
  },
  ['id', 'name', 'created_at', 'last_used_at', 'backed_up', 'transports'],
);
const PASSKEYS = object(
  {
    passkeys: list(PASSKEY),
    total: WHOLE,
    rp_id: SHORT,
    user_handle: { ...orNull('string'), description: 'For signalAllAcceptedCredentials' },
  },
  ['passkeys', 'total', 'rp_id', 'user_handle'],
);

const OPTIONS = { type: 'object', additionalProperties: true } as const;

export const passkeyOptions = flow('POST /api/auth/passkeys/options', {
  needs: 'public',
  security: ['bearer'],
  summary: 'What PublicKeyCredential.parseCreationOptionsFromJSON takes, to make a passkey',
  optional: true,
  body: object({ ticket: TOKEN }),
  answers: { 200: ['The creation options', OPTIONS] },
  refuses: { 409: 'Too many passkeys', ...PROOF },
  async handle(call, auth) {
    const { db } = auth;
    relyingParty(auth);
    const enroller = await readEnroller(auth, call);
    const { account } = enroller;
    const known = await passkeysOf(db, account.id);
    if (known.length >= MAX_PASSKEYS) throw tooMany();
    const handle = await ensureHandle(db, account.id);
    const data = { for: proofOf(enroller) };
    const challenge = await issueChallenge(auth, 'passkey_new', account.id, data);
    const { email: name } = account;
    const displayName = [account.first_name, account.last_name].filter(Boolean).join(' ') || name;
    const user = { handle, name, displayName };
    return reply(200, await creationOptions(auth, user, { challenge, known }));
  },
});

export const addPasskey = flow('POST /api/auth/passkeys', {
  needs: 'public',
  security: ['bearer'],
  summary: 'Add the passkey that the browser made; with a ticket the sign-in goes on',
  body: object({ credential: NEW_CREDENTIAL, name: SHORT, ticket: TOKEN }, ['credential']),
  answers: {
    201: ['The passkey; with a ticket also the login object as `login`', PASSKEY],
    202: ['Another step is left', STEP],
  },
  refuses: {
    400: 'Invalid or expired token',
    401: 'Invalid credentials',
    409: 'Passkey already registered',
  },
  async handle(call, auth) {
    const { context, body } = call;
    relyingParty(auth);
    const enroller = await readAdder(auth, call);
    await countEnrolment(auth, enroller);
    const passkey = await readNew(auth, body.credential, enroller);
    const { userAgent } = callerOf(context);
    const name = checkText('name', body.name) || deviceKind(userAgent).slice(0, 64) || 'Passkey';
    const saved: PasskeyRow[] = [];
    const writes: StepWrites = async (change) => {
      saved.push(await save(auth, change, enroller.account, { passkey, name }));
    };
    const added = enroll(auth, call, enroller, { amr: ['hwk', 'user'], writes });
    const { status, fields } = await added.catch((error: unknown) => {
      throw isUniqueViolation(error) ? failure.conflict('Passkey already registered') : error;
    });
    return reply(status === 202 ? 202 : 201, { ...showPasskey(saved.at(-1)!), ...fields });
  },
});

export const passkeyLoginOptions = flow('POST /api/auth/passkeys/login/options', {
  needs: 'public',
  limits: ['login-ip'],
  summary: 'What PublicKeyCredential.parseRequestOptionsFromJSON takes, to sign in without a name',
  optional: true,
  body: object({}),
  answers: { 200: ['The request options', OPTIONS] },
  refuses: { 401: 'API key required', 429: 'Rate limit exceeded' },
  async handle({ context }, auth) {
    requireApiKey(auth, context);
    return reply(200, await requestOptions(auth, 'passkey_login', null));
  },
});

export const passkeyLogin = flow('POST /api/auth/passkeys/login', {
  needs: 'public',
  limits: ['login-ip'],
  summary: 'Sign in with a passkey',
  body: object({ credential: CREDENTIAL, ...CLIENT }, ['credential']),
  answers: LOGGED_IN,
  refuses: { 401: 'Invalid credentials', 429: 'Rate limit exceeded' },
  handle: (call, auth) => signInByPasskey(auth, call),
});

export const secondFactorOptions = flow('POST /api/auth/second-factor/options', {
  needs: 'public',
  limits: ['login-ip'],
  summary: 'Request options for a passkey as the second factor of a sign-in',
  body: object({ ticket: TOKEN }, ['ticket']),
  answers: { 200: ['The request options', OPTIONS] },
  refuses: { 400: 'Invalid or expired token', 429: 'Rate limit exceeded' },
  async handle({ context, body }, auth) {
    requireApiKey(auth, context);
    relyingParty(auth);
    const { entry } = await readTicket(auth, body.ticket, ['second_factor']);
    return reply(200, await requestOptions(auth, 'passkey_second_factor', entry.account.id));
  },
});

export const reauthenticateOptions = flow('POST /api/auth/reauthenticate/options', {
  needs: 'session',
  summary: 'Request options for a passkey that reauthenticates',
  optional: true,
  body: object({}),
  answers: { 200: ['The request options', OPTIONS] },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    refuseImpersonation(context);
    relyingParty(auth);
    const { account } = await signedInAccount(auth, context);
    return reply(200, await requestOptions(auth, 'passkey_reauthentication', account.id));
  },
});

export const passkeys = flow('GET /api/auth/passkeys', {
  needs: 'session',
  summary: "One's own passkeys",
  answers: { 200: ['The passkeys', PASSKEYS] },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { db } = auth;
    const { id: rp_id } = relyingParty(auth);
    const { account } = await signedInAccount(auth, context);
    const passkeys = (await passkeysOf(db, account.id)).map(showPasskey);
    const user_handle = await handleOf(db, account.id);
    return reply(200, { passkeys, total: passkeys.length, rp_id, user_handle });
  },
});

export const renamePasskey = flow('PATCH /api/auth/passkeys/:id', {
  needs: 'session',
  summary: 'Rename a passkey',
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The passkey', PASSKEY] },
  refuses: { 404: 'Passkey not found', ...PROOF },
  async handle({ context, params, body }, auth) {
    const { db } = auth;
    const { account } = await assertProof(auth, context);
    const row = await findOwn(db, account.id, params.id);
    const name = checkText('name', body.name);
    if (!name) throw failure.invalid('name is required');
    await db.updateTable('auth_passkeys').set({ name }).where('id', '=', row.id).execute();
    return reply(200, showPasskey({ ...row, name }));
  },
});

export const removePasskey = flow('DELETE /api/auth/passkeys/:id', {
  needs: 'session',
  summary: 'Remove a passkey',
  answers: { 204: ['Removed'] },
  refuses: { 404: 'Passkey not found', 409: 'Cannot remove the last sign-in method', ...PROOF },
  async handle({ context, params }, auth) {
    const { account } = await assertProof(auth, context);
    await auth.events.transact(asUser(callerOf(context), account.id), async ({ trx, emit }) => {
      await auth.directory.serialise(trx);
      const row = await findOwn(trx, account.id, params.id);
      await trx.deleteFrom('auth_passkeys').where('id', '=', row.id).execute();
      await assertOtherMethod(auth, trx, account.id);
      await assertFactorLeft(auth, trx, account);
      emit('passkey.removed', account.id, { passkey_id: row.id, name: row.name });
    });
    return reply(204);
  },
});

const tooMany = () =>
  failure.conflict(`Too many passkeys: remove one of the ${MAX_PASSKEYS} before you add another`);

const invalid = () => failure.unauthenticated('Invalid credentials');

/** What a challenge is bound to: the session that had a proof, or the ticket. */
const proofOf = (enroller: Enroller): string =>
  'sessionId' in enroller ? enroller.sessionId : digest(enroller.ticket.token);

/** The proof was asked for with the options, so a slow user does not lose the passkey they made. */
const readAdder = (auth: AuthState, call: Call): Promise<Enroller> =>
  call.body.ticket === undefined ? signedInAccount(auth, call.context) : readEnroller(auth, call);

/**
 * Checks a new passkey against the challenge that was given under proof, or for the ticket.
 *
 * @throws AppError 401
 */
async function readNew(
  auth: AuthState,
  credential: Parameters<typeof verifyNew>[0],
  enroller: Enroller,
): Promise<NewPasskey> {
  const party = relyingParty(auth);
  const client = readClientData(credential.response.clientDataJSON);
  const { db } = auth;
  const taken = client && (await takeChallenge(auth, db, 'passkey_new', client.challenge));
  if (!client || !taken || client.crossOrigin) throw invalid();
  if (taken.userId !== enroller.account.id || taken.data['for'] !== proofOf(enroller))
    throw invalid();
  return verifyNew(credential, client.challenge, party).catch(() => {
    throw invalid();
  });
}

async function save(
  auth: AuthState,
  { trx, emit }: Change,
  account: Account,
  { passkey, name }: { passkey: NewPasskey; name: string },
): Promise<PasskeyRow> {
  await auth.directory.serialise(trx);
  const known = await passkeysOf(trx, account.id);
  if (known.length >= MAX_PASSKEYS) throw tooMany();
  if (known.length === 0) await endEarlyCodes(auth, trx, account);
  const row = await insertPasskey(trx, account.id, { passkey, name, now: auth.now() });
  emit('passkey.added', account.id, { passkey_id: row.id, name });
  return row;
}

/**
 * Removes recovery codes that were made before the first factor: an intruder who knows the password
 * may have made them with a ticket, to sign in with them once a factor is asked for.
 */
async function endEarlyCodes(auth: AuthState, trx: Change['trx'], { id }: Account): Promise<void> {
  const current = await auth.directory.find(trx, id);
  if (current?.totpSince === null) await removeRecoveryCodes(trx, id);
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
async function assertFactorLeft(auth: AuthState, trx: Trx, account: Account): Promise<void> {
  if (!isSecondFactorRequired(auth.model, account) || account.totpSince !== null) return;
  if (!(await hasPasskey(auth, trx, account.id))) throw failure.forbidden();
}
