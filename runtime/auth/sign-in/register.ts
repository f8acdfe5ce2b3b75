import type { Trx } from '../tables.ts';
import { AppError, failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { asSystem, insertWithHooks, systemContext } from '@twofold/runtime/kernel';
import { advance } from '../steps/advance.ts';
import { recordAttempt } from '../events/attempts.ts';
import { type Caller, callerOf } from '../requests/caller.ts';
import type { Emit } from '../events/events.ts';
import { ExtendError } from '../sessions/extend.ts';
import {
  checkEmail,
  checkPhone,
  checkText,
  checkUsername,
  emailKey,
  usernameFrom,
} from './identity-rules.ts';
import { randomToken, type UserId } from '../ids.ts';
import { markRegistration, proveAddress, storedRegistration } from './first-proof.ts';
import { identifierOf } from './identifier.ts';
import { mayMailStranger } from '../mails/stranger-mail.ts';
import { requireApiKey } from './login.ts';
import { findInvitation, join, useInvitation } from '../organizations/invitations.ts';
import { afterRegister, beforeRegister, type Registering } from '../own/own-hooks.ts';
import type { AuthParts } from '../parts.ts';
import { readRegisterFields } from './register-fields.ts';
import { assignDefaultRole } from '../users/roles.ts';
import { type Account, type AccountPatch, isClosed } from '../users/user-directory.ts';
import { mailTaken, mailVerification } from './verification.ts';

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
export async function registerUser(parts: AuthParts, call: Call): Promise<Reply> {
  const { context, body, koa } = call;
  requireApiKey(parts, context);
  const caller = callerOf(context);
  const wish = await withHook(parts, await readUser(parts, body), { context, body });
  if (parts.model.organizations && body.invitation !== undefined)
    return registerInvited(parts, call, wish, body.invitation);
  const user = { ...wish, browser: markRegistration(parts, koa) };
  if (parts.model.enumeration === 'strict') {
    parts.mailer.assertAvailable();
    await registerQuietly(parts, caller, user);
    return reply(202, CONTINUE_RESPONSE);
  }
  // A user who still has to verify their address gets no session.
  if (parts.model.requireVerifiedEmail) {
    await insert(parts, caller, user);
    return reply(202, CONTINUE_RESPONSE);
  }
  return insertAndOpen(parts, call, user);
}

/**
 * Registration with the token of an invitation. The token came to the address by mail, which proves
 * the address.
 */
async function registerInvited(
  parts: AuthParts,
  call: Call,
  user: NewUser,
  token: string,
): Promise<Reply> {
  const { email } = user.patch;
  const invited = await findInvitation(parts, parts.kernel.store.db, token);
  if (emailKey(email) !== invited.email) throw failure.forbidden();
  return insertAndOpen(parts, call, user, async (trx, emit, userId) => {
    const used = await useInvitation(parts, trx, token);
    const change = { trx, emit, caller: callerOf(call.context) };
    await proveAddress(parts, change, userId, user);
    await join(parts, trx, emit, { userId, invited: used });
  });
}

/** Adds to the row what the hook `beforeRegister` returns. */
async function withHook(
  parts: AuthParts,
  user: NewUser,
  registering: Registering,
): Promise<NewUser> {
  const added = await beforeRegister(parts, registering);
  return { ...user, fields: { ...user.fields, ...added }, registering };
}

/** Where a second factor is required, the answer is the ticket to enroll one. */
function insertAndOpen(
  parts: AuthParts,
  call: Call,
  user: NewUser,
  within?: Insertion['within'],
): Promise<Reply> {
  return openNew(parts, call, user.patch.email, 'register', () =>
    insert(parts, callerOf(call.context), user, { ...(within && { within }) }),
  );
}

/** Creates user and first session in one transaction. When `extend` fails, it creates neither. */
export async function openNew(
  parts: AuthParts,
  call: Call,
  email: string,
  method: 'register' | 'setup',
  create: () => Promise<UserId>,
): Promise<Reply> {
  const { context } = call;
  const { store } = parts.kernel;
  const identifierHash = identifierOf(parts, email);
  try {
    return await store.transaction(async (trx) => {
      const account = await parts.directory.find(trx, await create());
      const goal = { kind: 'session', status: 201 } as const;
      return advance(parts, call, { account: account!, method, amr: ['pwd'], goal });
    });
  } catch (error) {
    if (error instanceof ExtendError)
      await store.keep(() =>
        recordAttempt(store.db, parts.kernel, callerOf(context), {
          kind: 'password',
          outcome: 'failure',
          reason: 'extend_failed',
          identifierHash,
          identifier: email,
          userId: null,
          sessionId: null,
        }),
      );
    throw error;
  }
}

/**
 * Registration under `enumeration: strict`. The response is the same if the address is taken
 * already, and the owner of the address gets a mail.
 */
async function registerQuietly(parts: AuthParts, caller: Caller, user: NewUser): Promise<void> {
  try {
    await insert(parts, caller, user, { yielding: true });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    const holder = await unprovedHolder(parts, user);
    if (!holder) {
      if (!(await mayMailStranger(parts, { to: user.patch.email, caller }))) return;
      return mailTaken(parts, user.patch.email, caller, 'register');
    }
    const { id: userId, email } = holder;
    const mail = { userId, email, caller, browser: user.browser };
    await parts.events.transact(caller, (trx, emit) =>
      mailVerification(parts, trx, emit, { ...mail, registration: storedRegistration(user) }),
    );
  }
}

/** The account of somebody who registered the address earlier and has not proved it. */
async function unprovedHolder(
  { directory, kernel }: AuthParts,
  { patch }: NewUser,
): Promise<Account | null> {
  const account = await directory.findByEmail(kernel.store.db, patch.email);
  return account && !account.emailVerified && !isClosed(account) ? account : null;
}

/** @throws AppError 400 that names the wrong field. */
export async function readUser(
  parts: AuthParts,
  body: Readonly<Record<string, any>>,
): Promise<NewUser> {
  const { kernel, policy, passwords } = parts;
  const { patch, fields } = readNames(parts, body);
  await policy.assert(body['password'], { ...patch, name: checkText('name', body['name']) });
  const password = await passwords.hash(body['password']);
  return { patch: { ...patch, password, password_changed_at: kernel.now() }, fields };
}

/** Like `readUser`, for a user without a password. @throws AppError 400 */
export function readNames(parts: AuthParts, body: Readonly<Record<string, any>>) {
  const { model, kernel } = parts;
  const email = checkEmail(body['email']);
  const username = checkUsername(body['username']);
  const phone = checkPhone(body['phone']);
  const [first_name, last_name, name] = ['first_name', 'last_name', 'name'].map((field) =>
    checkText(field, body[field]),
  ) as [string, string, string];
  const fields = readRegisterFields(
    kernel.project,
    model.user.entity,
    model.user.registerFields,
    body,
  );
  const fullName =
    name || [first_name, last_name].filter(Boolean).join(' ') || username || email.split('@')[0]!;
  const patch = { email, username, phone, first_name, last_name, avatar_url: '' };
  return { patch: { ...patch, ...(model.user.columns.name && { name: fullName }) }, fields };
}

interface Insertion {
  /** Use another username and no phone number if they are taken, instead of failing. */
  readonly yielding?: boolean;
  /** Takes the place of the mail that verifies the address. */
  readonly within?: (trx: Trx, emit: Emit, userId: UserId) => Promise<void>;
}

/**
 * Creates the user and mails the link that verifies the address.
 *
 * @throws AppError 409
 */
async function insert(
  parts: AuthParts,
  caller: Caller,
  user: NewUser,
  { yielding = false, within }: Insertion = {},
): Promise<UserId> {
  try {
    return await parts.events.transact(caller, async (trx, emit) => {
      const { free, taken } = yielding
        ? await withoutTaken(parts, trx, user)
        : { free: user, taken: {} };
      const holder = within && (await unprovedHolder(parts, user));
      const userId = holder?.id ?? (await createUser(parts, trx, emit, free));
      const { email } = user.patch;
      await (within
        ? within(trx, emit, userId)
        : mailVerification(parts, trx, emit, {
            userId,
            email,
            caller,
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
  parts: AuthParts,
  trx: Trx,
  emit: Emit,
  { patch, fields, registering }: NewUser,
): Promise<UserId> {
  const { directory } = parts;
  await directory.serialise(trx);
  const { email, username = null, phone = null } = patch;
  if (await directory.isTaken(trx, { email, username, phone })) throw userExists();
  const patchWithName = { ...patch, username: username ?? (await freeUsername(parts, trx, email)) };
  const id = await withEntityHooks(
    parts,
    { patch: patchWithName, fields, registering },
    async (added) => {
      const made = await directory.create(trx, patchWithName, fields, added);
      await assignDefaultRole(parts, trx, made);
      return made;
    },
  );
  emit('user.registered', id, {});
  await afterRegister(parts, trx, id, registering);
  return id;
}

/** Runs the hooks of the user entity around the statement that inserts a user. */
function withEntityHooks(
  { directory, kernel, model }: AuthParts,
  { patch, fields, registering }: NewUser,
  insert: (added: NewUser['fields']) => Promise<UserId>,
): Promise<UserId> {
  const { entity } = model.user;
  if (entity === null) return insert({});
  const context = registering ? asSystem(kernel, registering.context) : systemContext(kernel);
  const row = { ...fields, ...directory.columnsSetBy(patch) };
  return insertWithHooks(kernel, { entity, row, context }, insert);
}

/** Removes a username and phone number that are taken; the mail says so. */
async function withoutTaken(
  parts: AuthParts,
  trx: Trx,
  user: NewUser,
): Promise<{ readonly free: NewUser; readonly taken: { username?: string; phone?: string } }> {
  await parts.directory.serialise(trx);
  const { email, username, phone } = user.patch;
  const isTaken = (value: { username: string } | { phone: string }) =>
    parts.directory.isTaken(trx, value);
  const patch = { ...user.patch };
  const taken: { username?: string; phone?: string } = {};
  if (username && (await isTaken({ username }))) {
    patch.username = await freeUsername(parts, trx, email);
    taken.username = username;
  }
  if (phone && (await isTaken({ phone }))) {
    patch.phone = null;
    taken.phone = phone;
  }
  return { free: { ...user, patch }, taken };
}

/** Derives a username from the address, and adds a number when it is taken. */
async function freeUsername({ directory }: AuthParts, trx: Trx, email: string): Promise<string> {
  const base = usernameFrom(email);
  const candidates = [
    base,
    ...Array.from({ length: 5 }, () => `${base}-${1000 + Math.floor(Math.random() * 9000)}`),
  ];
  for (const username of candidates)
    if (!(await directory.isTaken(trx, { username }))) return username;
  return `user-${randomToken(12).replaceAll(/[^A-Za-z0-9]/g, '0')}`;
}

export const userExists = () => failure.conflict('User already exists');

/** Checks for SQLSTATE 23505, or the message of SQLite. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === '23505' || /UNIQUE constraint failed/.test(String(message));
}
