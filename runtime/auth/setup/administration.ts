import type { Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import { SYSTEM } from '../requests/caller.ts';
import { checkEmail, emailKey } from '../sign-in/identity-rules.ts';
import { pageLink } from '../mails/links.ts';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { createUser, isUniqueViolation, userExists } from '../sign-in/register.ts';
import { giveRole, roleByName } from '../users/roles.ts';
import { issueSetupToken, setupLink } from './setup.ts';
import { DAY } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

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
  parts: AuthParts,
  { command, email = '', role }: Administration,
): Promise<Administered> {
  if (command === 'link') return printLink(parts);
  return command === 'create' ? createAccount(parts, email, role) : grant(parts, email, role ?? '');
}

async function createAccount(
  parts: AuthParts,
  email: string,
  role: string | undefined,
): Promise<Administered> {
  const { model, config } = parts;
  const wanted = role ?? firstRole(model);
  const { registerFields, columns } = model.user;
  if (registerFields.length > 0)
    throw failure.conflict(
      `an account needs ${registerFields.join(', ')}: register it, ` +
        `then run "npm run admin -- grant --email ${email} --role …"`,
    );
  const address = checkEmail(email);
  const [name = ''] = address.split('@');
  const work = parts.events.transact(SYSTEM, async (trx, emit) => {
    const patch = { email: address, ...(columns.name && { name }), password_changed_at: 0 };
    const id = await createUser(parts, trx, emit, { patch, fields: {} });
    const account = await parts.directory.find(trx, id);
    if (wanted !== null && account)
      await giveRole(
        parts,
        { trx, emit, caller: SYSTEM },
        account,
        await roleId(parts, trx, wanted),
      );
    return parts.oneTime.issue(trx, 'reset', id, {
      data: { email: emailKey(address) },
      life: DAY,
    });
  });
  const token = await work.catch((error: unknown) => {
    throw isUniqueViolation(error) ? userExists() : error;
  });
  const link = pageLink(parts, 'reset-password', token);
  return {
    ok: true,
    link,
    text: `Made ${address}${wanted === null ? '' : `, ${wanted}`}. This link sets the password, once, within a day:

  ${link}

Without a browser:

  ${curl(config.appUrl, 'reset-password', { token, new_password: '…' })}`,
  };
}

async function grant(parts: AuthParts, email: string, role: string): Promise<Administered> {
  await parts.events.transact(SYSTEM, async (trx, emit) => {
    await serialiseRights(trx, parts.kernel.store.dialect);
    const account: Account | null = await parts.directory.findByEmail(trx, email);
    if (!account) throw failure.notFound(`no user has the address ${email}`);
    await giveRole(parts, { trx, emit, caller: SYSTEM }, account, await roleId(parts, trx, role));
  });
  return { ok: true, text: `${email} is ${role} now.` };
}

async function printLink(parts: AuthParts): Promise<Administered> {
  const first = firstRole(parts.model);
  if (first === null)
    throw failure.conflict('no role is the first: set auth.roles.first in the manifest');
  if (await hasOwner(parts, parts.kernel.store.db))
    throw failure.conflict(
      `somebody has the role ${first}: run "npm run admin -- grant --email … --role ${first}" for another one`,
    );
  const token = await issueSetupToken(parts);
  const link = setupLink(parts, token);
  const body = { token, email: 'you@example.com', password: '…' };
  return {
    ok: true,
    link,
    text: `The first person who follows this link becomes ${first}, within an hour:

  ${link}

Without a browser:

  ${curl(parts.config.appUrl, 'setup', body)}`,
  };
}

function curl(appUrl: string, path: string, body: object): string {
  return `curl ${appUrl}/api/auth/${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

/** @throws AppError 404 that lists the existing roles. */
async function roleId({ model }: AuthParts, trx: Trx, name: string): Promise<number> {
  const role = await roleByName(trx, name);
  if (role) return role.id;
  throw failure.notFound(
    model.roles
      ? `there is no role ${name}; the manifest has ${model.roles.list.join(', ')}`
      : 'the manifest has no auth.roles',
  );
}
