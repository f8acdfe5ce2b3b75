import { failure } from '@twofold/runtime/errors';
import type { Trx } from '../base/tables.ts';
import { SYSTEM } from '../base/caller.ts';
import { checkEmail, emailKey } from '../base/identity-rules.ts';
import { pageLink } from '../mails/links.ts';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthState } from '../state.ts';
import { serialiseRights } from '../users/permissions.ts';
import { createUser, isUniqueViolation, userExists } from '../sign-in/register.ts';
import { giveRole, roleByName } from '../users/roles.ts';
import { DAY } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import { issueSetupToken, setupLink } from './setup.ts';

/** A command of `npm run admin` whose arguments are checked. */
export interface Administration {
  readonly command: 'create' | 'grant' | 'link';
  readonly email?: string;
  readonly role?: string;
}

/** The result of a command: `text` is for a person, `link` for a program. */
export interface Administered {
  readonly ok: true;
  readonly link?: string;
  readonly text: string;
}

/**
 * Runs a command of the server's own command line. A person who can run it has access to the
 * database anyway, so the command asks for no other proof.
 *
 * @throws AppError with the reason of a refusal.
 */
export async function administer(
  auth: AuthState,
  { command, email = '', role }: Administration,
): Promise<Administered> {
  if (command === 'link') return printLink(auth);
  return command === 'create' ? createAccount(auth, email, role) : grant(auth, email, role ?? '');
}

async function createAccount(
  auth: AuthState,
  email: string,
  role: string | undefined,
): Promise<Administered> {
  const wanted = role ?? firstRole(auth.model);
  const { registerFields, columns } = auth.model.user;
  if (registerFields.length > 0)
    throw failure.conflict(
      `an account needs ${registerFields.join(', ')}: register it, ` +
        `then run "npm run admin -- grant --email ${email} --role …"`,
    );
  const address = checkEmail(email);
  const [name = ''] = address.split('@');
  const work = auth.events.transact(SYSTEM, async (change) => {
    const patch = { email: address, ...(columns.name && { name }), password_changed_at: 0 };
    const id = await createUser(auth, change, { patch, fields: {} });
    const account = await auth.directory.find(change.trx, id);
    if (wanted !== null && account)
      await giveRole(auth, change, account, await roleId(auth, change.trx, wanted));
    return auth.oneTime.issue(change.trx, 'reset', id, {
      data: { email: emailKey(address) },
      life: DAY,
    });
  });
  const token = await work.catch((error: unknown) => {
    throw isUniqueViolation(error) ? userExists() : error;
  });
  const link = pageLink(auth, 'reset-password', token);
  return {
    ok: true,
    link,
    text: `Made ${address}${wanted === null ? '' : `, ${wanted}`}. This link sets the password, once, within a day:

  ${link}

Without a browser:

  ${curl(auth.config.appUrl, 'reset-password', { token, new_password: '…' })}`,
  };
}

async function grant(auth: AuthState, email: string, role: string): Promise<Administered> {
  await auth.events.transact(SYSTEM, async (change) => {
    await serialiseRights(change.trx, auth.store.dialect);
    const account: Account | null = await auth.directory.findByEmail(change.trx, email);
    if (!account) throw failure.notFound(`no user has the address ${email}`);
    await giveRole(auth, change, account, await roleId(auth, change.trx, role));
  });
  return { ok: true, text: `${email} is ${role} now.` };
}

async function printLink(auth: AuthState): Promise<Administered> {
  const first = firstRole(auth.model);
  if (first === null)
    throw failure.conflict('no role is the first: set auth.roles.first in the manifest');
  if (await hasOwner(auth, auth.db))
    throw failure.conflict(
      `somebody has the role ${first}: run "npm run admin -- grant --email … --role ${first}" for another one`,
    );
  const token = await issueSetupToken(auth);
  const link = setupLink(auth, token);
  const body = { token, email: 'you@example.com', password: '…' };
  return {
    ok: true,
    link,
    text: `The first person who follows this link becomes ${first}, within an hour:

  ${link}

Without a browser:

  ${curl(auth.config.appUrl, 'setup', body)}`,
  };
}

function curl(appUrl: string, path: string, body: object): string {
  return `curl ${appUrl}/api/auth/${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

/** @throws AppError 404 that lists the existing roles. */
async function roleId(auth: AuthState, trx: Trx, name: string): Promise<number> {
  const role = await roleByName(trx, name);
  if (role) return role.id;
  throw failure.notFound(
    auth.model.roles
      ? `there is no role ${name}; the manifest has ${auth.model.roles.list.join(', ')}`
      : 'the manifest has no auth.roles',
  );
}
