import type { Transaction } from 'kysely';
import { AppError, failure } from '../errors.ts';
import { type Handler, reply } from '../http/route.ts';
import { type Caller, callerOf } from './caller.ts';
import type { Emit } from './events.ts';
import {
  checkEmail,
  checkPhone,
  checkText,
  checkUsername,
  usernameFrom,
} from './identity-rules.ts';
import { randomToken, type UserId } from './ids.ts';
import { identifierOf, requireApiKey } from './login.ts';
import type { AuthParts } from './parts.ts';
import { deliverLogin } from './refresh-cookie.ts';
import { readRegisterFields } from './register-fields.ts';
import { assignDefaultRole } from './roles.ts';
import type { AccountPatch } from './user-directory.ts';
import { mailVerification } from './verification.ts';

/** A user to be: checked, with the password hashed. */
export interface NewUser {
  readonly patch: AccountPatch & { readonly email: string };
  readonly fields: Readonly<Record<string, unknown>>;
}

const CONTINUE = { message: 'Check your email to continue' };

/** `POST /api/auth/register`: contract section 2.4. Only the fields named there are read, whatever else is sent. */
export function createRegister(parts: AuthParts): Handler {
  return async ({ context, koa, body }) => {
    requireApiKey(parts, context);
    const caller = callerOf(context);
    const user = await readUser(parts, body);
    const quiet = parts.model.enumeration === 'strict';
    if (quiet) parts.mailer.assertAvailable();
    const id = await insert(parts, caller, user).catch((error: unknown) => {
      if (quiet && error instanceof AppError && error.status === 409) return null;
      throw error;
    });
    if (id === null) {
      parts.mailer.send({
        to: user.patch.email,
        subject: 'You already have an account',
        text: `Somebody, perhaps you, tried to register with this address, which has an account already. Sign in at ${parts.config.appUrl}.\n`,
      });
      return reply(202, CONTINUE);
    }
    // Nobody who has yet to prove an address gets a session from it.
    if (quiet || parts.model.requireVerifiedEmail) return reply(202, CONTINUE);
    const account = await parts.directory.find(parts.kernel.store.db, id);
    const identifierHash = identifierOf(parts, user.patch.email);
    const login = await parts.signIn.open(context, account!, 'register', { identifierHash });
    parts.devices.give(koa, identifierHash);
    return reply(201, deliverLogin(parts, koa, login));
  };
}

/** @throws AppError 400 naming what is not acceptable. */
export async function readUser(
  parts: AuthParts,
  body: Readonly<Record<string, any>>,
): Promise<NewUser> {
  const { model, kernel, policy, passwords } = parts;
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
  await policy.assert(body['password'], { email, username, first_name, last_name, name });
  const password = await passwords.hash(body['password']);
  const fullName =
    name || [first_name, last_name].filter(Boolean).join(' ') || username || email.split('@')[0]!;
  const patch = {
    email,
    username,
    phone,
    first_name,
    last_name,
    password,
    password_changed_at: kernel.now(),
    avatar_url: '',
  };
  return { patch: { ...patch, ...(model.user.columns.name && { name: fullName }) }, fields };
}

/** @throws AppError 409 */
async function insert(parts: AuthParts, caller: Caller, user: NewUser): Promise<UserId> {
  try {
    return await parts.events.transact(caller, async (trx, emit) => {
      const id = await createUser(parts, trx, emit, user);
      await mailVerification(parts, trx, emit, id, user.patch.email);
      return id;
    });
  } catch (error) {
    throw isUniqueViolation(error) ? userExists() : error;
  }
}

/**
 * Writes a user in a transaction of the caller's, with a username and a role.
 *
 * @throws AppError 409
 */
export async function createUser(
  parts: AuthParts,
  trx: Transaction<any>,
  emit: Emit,
  { patch, fields }: NewUser,
): Promise<UserId> {
  const { directory } = parts;
  await directory.serialise(trx);
  const { email, username = null, phone = null } = patch;
  if (await directory.isTaken(trx, { email, username, phone })) throw userExists();
  const id = await directory.create(
    trx,
    { ...patch, username: username ?? (await freeUsername(parts, trx, email)) },
    fields,
  );
  await assignDefaultRole(parts, trx, id);
  emit('user.registered', id, {});
  return id;
}

/** Derived from the address; a number is added when somebody has it. */
async function freeUsername(
  { directory }: AuthParts,
  trx: Transaction<any>,
  email: string,
): Promise<string> {
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

/** SQLSTATE 23505, or SQLite's text. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === '23505' || /UNIQUE constraint failed/.test(String(message));
}
