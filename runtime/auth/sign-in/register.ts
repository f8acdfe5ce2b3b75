import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { asSystem, insertWithHooks, systemContext } from '@twofold/runtime/kernel';
import type { Change } from '../events/events.ts';
import type { Trx } from '../base/tables.ts';
import { noteAttempt } from '../events/attempts.ts';
import { type Caller, callerOf } from '../base/caller.ts';
import { ExtendError } from '../sessions/extend.ts';
import {
  checkEmail,
  checkPhone,
  checkText,
  checkUsername,
  emailKey,
  usernameFrom,
} from '../base/identity-rules.ts';
import { randomToken, type UserId } from '../base/ids.ts';
import { identifierOf } from '../limits/identifier.ts';
import { mayMailStranger } from '../mails/stranger-mail.ts';
import { findInvitation, join, useInvitation } from '../organizations/invitations.ts';
import type { AuthState } from '../state.ts';
import { assignDefaultRole } from '../users/roles.ts';
import { type Account, type AccountPatch, isClosed } from '../users/user-directory.ts';
import { advance } from './advance.ts';
import { markRegistration, proveAddress, storedRegistration } from './first-proof.ts';
import { requireApiKey } from './login.ts';
import { afterRegister, beforeRegister, type Registering } from './hooks.ts';
import { readRegisterFields } from './register-fields.ts';
import { mailTaken, mailVerification } from './mailed-links.ts';

/** A user who is about to be created, with checked values and a hashed password. */
export interface NewUser {
  readonly patch: AccountPatch & { readonly email: string };
  readonly fields: Readonly<Record<string, unknown>>;
  /** The hash of the secret that marks the browser which registers. */
  readonly browser?: string;
  /** The request that registers them, for hooks. */
  readonly registering?: Registering | undefined;
}

const CONTINUE_RESPONSE = { message: 'Check your email to continue' };

/** `POST /api/auth/register`. Fields that registration does not know are ignored. */
export async function registerUser(auth: AuthState, call: Call): Promise<Reply> {
  const { context, body, koa } = call;
  requireApiKey(auth, context);
  const caller = callerOf(context);
  const wish = await withHook(auth, await readUser(auth, body), { context, body });
  if (auth.model.organizations && body.invitation !== undefined)
    return registerInvited(auth, call, wish, body.invitation);
  const user = { ...wish, browser: markRegistration(auth, koa) };
  if (auth.model.enumeration === 'strict') {
    auth.mails.assertAvailable();
    await registerQuietly(auth, caller, user);
    return reply(202, CONTINUE_RESPONSE);
  }
  // A user who still has to verify their address gets no session.
  if (auth.model.requireVerifiedEmail) {
    await insert(auth, caller, user);
    return reply(202, CONTINUE_RESPONSE);
  }
  return insertAndOpen(auth, call, user);
}

/**
 * Registration with the token of an invitation. The token came to the address by mail, which proves
 * the address.
 */
async function registerInvited(
  auth: AuthState,
  call: Call,
  user: NewUser,
  token: string,
): Promise<Reply> {
  const { email } = user.patch;
  const invited = await findInvitation(auth, auth.db, token);
  if (emailKey(email) !== invited.email) throw failure.forbidden();
  return insertAndOpen(auth, call, user, async (change, userId) => {
    const used = await useInvitation(auth, change.trx, token);
    await proveAddress(auth, change, userId, user);
    await join(auth, change, { userId, invited: used });
  });
}

/** Adds to the row what the hook `beforeRegister` returns. */
async function withHook(
  auth: AuthState,
  user: NewUser,
  registering: Registering,
): Promise<NewUser> {
  const added = await beforeRegister(auth, registering);
  return { ...user, fields: { ...user.fields, ...added }, registering };
}

/** Where a second factor is required, the answer is the ticket to enroll one. */
function insertAndOpen(
  auth: AuthState,
  call: Call,
  user: NewUser,
  within?: Insertion['within'],
): Promise<Reply> {
  return openNew(auth, call, user.patch.email, 'register', () =>
    insert(auth, callerOf(call.context), user, { ...(within && { within }) }),
  );
}

/** Creates user and first session in one transaction. When `extend` fails, it creates neither. */
export async function openNew(
  auth: AuthState,
  call: Call,
  email: string,
  method: 'register' | 'setup',
  create: () => Promise<UserId>,
): Promise<Reply> {
  const { context } = call;
  const { store } = auth;
  const identifierHash = identifierOf(auth, email);
  try {
    return await store.transaction(async (trx) => {
      const account = await auth.directory.find(trx, await create());
      const goal = { kind: 'session', status: 201 } as const;
      return advance(auth, call, { account: account!, method, amr: ['pwd'], goal });
    });
  } catch (error) {
    if (error instanceof ExtendError)
      await noteAttempt(auth, callerOf(context), {
        kind: 'password',
        outcome: 'failure',
        reason: 'extend_failed',
        identifierHash,
        identifier: email,
      });
    throw error;
  }
}

/**
 * Registration under `enumeration: strict`. The response is the same if the address is taken
 * already, and the owner of the address gets a mail.
 */
async function registerQuietly(auth: AuthState, caller: Caller, user: NewUser): Promise<void> {
  try {
    await insert(auth, caller, user, { yielding: true });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    const holder = await unprovedHolder(auth, user);
    if (!holder) {
      if (!(await mayMailStranger(auth, { to: user.patch.email, caller }))) return;
      return mailTaken(auth, user.patch.email, caller, 'register');
    }
    const { id: userId, email } = holder;
    const mail = { userId, email, browser: user.browser };
    await auth.events.transact(caller, (change) =>
      mailVerification(auth, change, { ...mail, registration: storedRegistration(user) }),
    );
  }
}

/** The account of somebody who registered the address earlier and has not proved it. */
async function unprovedHolder(auth: AuthState, { patch }: NewUser): Promise<Account | null> {
  const account = await auth.directory.findByEmail(auth.db, patch.email);
  return account && !account.emailVerified && !isClosed(account) ? account : null;
}

/** @throws AppError 400 that names the wrong field. */
export async function readUser(
  auth: AuthState,
  body: Readonly<Record<string, any>>,
): Promise<NewUser> {
  const { patch, fields } = readNames(auth, body);
  await auth.passwords.assert(body['password'], {
    ...patch,
    name: checkText('name', body['name']),
  });
  const password = await auth.passwords.hash(body['password']);
  return { patch: { ...patch, password, password_changed_at: auth.now() }, fields };
}

/** Like `readUser`, for a user without a password. @throws AppError 400 */
export function readNames(auth: AuthState, body: Readonly<Record<string, any>>) {
  const email = checkEmail(body['email']);
  const username = checkUsername(body['username']);
  const phone = checkPhone(body['phone']);
  const [first_name, last_name, name] = ['first_name', 'last_name', 'name'].map((field) =>
    checkText(field, body[field]),
  ) as [string, string, string];
  const fields = readRegisterFields(
    auth.project,
    auth.model.user.entity,
    auth.model.user.registerFields,
    body,
  );
  const fullName =
    name || [first_name, last_name].filter(Boolean).join(' ') || username || email.split('@')[0]!;
  const patch = { email, username, phone, first_name, last_name, avatar_url: '' };
  return { patch: { ...patch, ...(auth.model.user.columns.name && { name: fullName }) }, fields };
}

interface Insertion {
  /** Use another username and no phone number if they are taken, instead of failing. */
  readonly yielding?: boolean;
  /** Takes the place of the mail that verifies the address. */
  readonly within?: (change: Change, userId: UserId) => Promise<void>;
}

/**
 * Creates the user and mails the link that verifies the address.
 *
 * @throws AppError 409
 */
async function insert(
  auth: AuthState,
  caller: Caller,
  user: NewUser,
  { yielding = false, within }: Insertion = {},
): Promise<UserId> {
  try {
    return await auth.events.transact(caller, async (change) => {
      const { free, taken } = yielding
        ? await withoutTaken(auth, change.trx, user)
        : { free: user, taken: {} };
      const holder = within && (await unprovedHolder(auth, user));
      const userId = holder?.id ?? (await createUser(auth, change, free));
      const { email } = user.patch;
      await (within
        ? within(change, userId)
        : mailVerification(auth, change, {
            userId,
            email,
            taken,
            browser: user.browser,
          }));
      return userId;
    });
  } catch (error) {
    throw isUniqueViolation(error) ? userExists() : error;
  }
}

/**
 * Creates a user with a username and a role in the caller's transaction.
 *
 * @throws AppError 409
 */
export async function createUser(
  auth: AuthState,
  change: Change,
  { patch, fields, registering }: NewUser,
): Promise<UserId> {
  const { trx, emit } = change;
  await auth.directory.serialise(trx);
  const { email, username = null, phone = null } = patch;
  if (await auth.directory.isTaken(trx, { email, username, phone })) throw userExists();
  const patchWithName = { ...patch, username: username ?? (await freeUsername(auth, trx, email)) };
  const id = await withEntityHooks(
    auth,
    { patch: patchWithName, fields, registering },
    async (added) => {
      const made = await auth.directory.create(trx, patchWithName, fields, added);
      await assignDefaultRole(auth, trx, made);
      return made;
    },
  );
  emit('user.registered', id, {});
  await afterRegister(auth, trx, id, registering);
  return id;
}

/** Runs the hooks of the user entity around the statement that inserts a user. */
function withEntityHooks(
  auth: AuthState,
  { patch, fields, registering }: NewUser,
  insert: (added: NewUser['fields']) => Promise<UserId>,
): Promise<UserId> {
  const { entity } = auth.model.user;
  if (entity === null) return insert({});
  const context = registering ? asSystem(auth, registering.context) : systemContext(auth);
  const row = { ...fields, ...auth.directory.columnsSetBy(patch) };
  return insertWithHooks(auth, { entity, row, context }, insert);
}

/** Removes a username and phone number that are taken; the mail says so. */
async function withoutTaken(
  auth: AuthState,
  trx: Trx,
  user: NewUser,
): Promise<{ readonly free: NewUser; readonly taken: { username?: string; phone?: string } }> {
  await auth.directory.serialise(trx);
  const { email, username, phone } = user.patch;
  const isTaken = (value: { username: string } | { phone: string }) =>
    auth.directory.isTaken(trx, value);
  const patch = { ...user.patch };
  const taken: { username?: string; phone?: string } = {};
  if (username && (await isTaken({ username }))) {
    patch.username = await freeUsername(auth, trx, email);
    taken.username = username;
  }
  if (phone && (await isTaken({ phone }))) {
    patch.phone = null;
    taken.phone = phone;
  }
  return { free: { ...user, patch }, taken };
}

/** Derives a username from the address, and adds a number when it is taken. */
async function freeUsername(auth: AuthState, trx: Trx, email: string): Promise<string> {
  const base = usernameFrom(email);
  const candidates = [
    base,
    ...Array.from({ length: 5 }, () => `${base}-${1000 + Math.floor(Math.random() * 9000)}`),
  ];
  for (const username of candidates)
    if (!(await auth.directory.isTaken(trx, { username }))) return username;
  return `user-${randomToken(12).replaceAll(/[^A-Za-z0-9]/g, '0')}`;
}

export const userExists = () => failure.conflict('User already exists');

/** Checks for SQLSTATE 23505, or the message of SQLite. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === '23505' || /UNIQUE constraint failed/.test(String(message));
}
