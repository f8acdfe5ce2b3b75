import type { Trx } from '../tables.ts';
import { refuseImpersonation } from '../users/authority.ts';
import { failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { unauthorized } from '../requests/authenticate.ts';
import { asUser, callerOf } from '../requests/caller.ts';
import { digest, type UserId } from '../ids.ts';
import { sameText } from '../secrets/keys.ts';
import { pageLink } from '../mails/links.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import {
  createUser,
  isUniqueViolation,
  openNew,
  readUser,
  userExists,
} from '../sign-in/register.ts';
import { giveRole, type RightsChange, roleByName } from '../users/roles.ts';
import type { Amr } from '../sessions/sessions.ts';
import { mailVerification } from '../sign-in/verification.ts';

/**
 * `POST /api/auth/setup`: makes a user the first administrator, with the role `roles.first`. The
 * token of the setup link, or `SETUP_TOKEN`, works while no user has that role. Of several
 * concurrent requests only one succeeds.
 */
export async function claimSetup(parts: AuthParts, call: Call): Promise<Reply> {
  requireApiKey(parts, call.context);
  if (firstRole(parts.model) === null) throw failure.notFound();
  await assertToken(parts, call.body.token);
  const signedIn = call.koa.get('Authorization') !== '';
  return signedIn ? claimSignedIn(parts, call) : claimNew(parts, call);
}

/** The setup link. With `pages: false`, a page of the project's own sends the token back. */
export const setupLink = (parts: Pick<AuthParts, 'config' | 'model'>, token: string): string =>
  parts.model.pages === false
    ? `${parts.config.appUrl}/auth/setup?token=${token}`
    : pageLink(parts, 'setup', token);

/** Creates a setup token that works for an hour. Earlier ones stay valid. */
export function issueSetupToken({ oneTime, kernel }: AuthParts): Promise<string> {
  return oneTime.issue(kernel.store.db, 'setup', null, { newestOnly: false });
}

async function claimSignedIn(parts: AuthParts, call: Call): Promise<Reply> {
  const { context, body } = call;
  if (context.principal.kind !== 'user') throw unauthorized(context);
  refuseImpersonation(context);
  const { account, sessionId } = await signedInAccount(parts, context);
  const caller = asUser(callerOf(context), account.id);
  const amr = context.values.get<readonly Amr[]>('amr')[0] ?? ['pwd'];
  return parts.events.transact(caller, async (trx, emit) => {
    await claim(parts, trx, body.token);
    await giveFirstRole(parts, { trx, emit, caller }, account.id);
    // The response has new tokens with the new role, so the session of the old tokens ends.
    await parts.sessions.end(trx, sessionId, 'setup');
    const owner = await parts.directory.find(trx, account.id);
    if (!owner) throw failure.notFound('User not found');
    const goal = { kind: 'session', status: 200 } as const;
    return advance(parts, call, { account: owner, method: 'setup', amr, goal });
  });
}

async function claimNew(parts: AuthParts, call: Call): Promise<Reply> {
  const { context, body } = call;
  for (const field of ['email', 'password'])
    if (!body[field]) throw failure.badRequest(`${field} is required`);
  const user = await readUser(parts, body);
  const caller = callerOf(context);
  const { token, ...shown } = body;
  const registering = { context, body: shown };
  const create = () =>
    parts.events.transact(caller, async (trx, emit) => {
      await claim(parts, trx, token);
      const id = await createUser(parts, trx, emit, { ...user, registering });
      await giveFirstRole(parts, { trx, emit, caller: asUser(caller, id) }, id);
      await mailVerification(parts, trx, emit, { userId: id, email: user.patch.email, caller });
      return id;
    });
  return openNew(parts, call, user.patch.email, 'setup', create).catch((error: unknown) => {
    throw isUniqueViolation(error) ? userExists() : error;
  });
}

async function giveFirstRole(
  parts: AuthParts,
  change: RightsChange,
  userId: UserId,
): Promise<void> {
  const account = await parts.directory.find(change.trx, userId);
  const role = await roleByName(change.trx, firstRole(parts.model) ?? '');
  if (!account || !role) throw failure.notFound('Role not found');
  await giveRole(parts, change, account, role.id);
  change.emit('user.setup', userId, { role: role.name });
}

/** A cheap check before expensive work. `claim` decides. @throws AppError 400 */
async function assertToken(parts: AuthParts, token: string): Promise<void> {
  const { db } = parts.kernel.store;
  if (await hasOwner(parts, db)) throw invalidToken();
  if (!isConfigured(parts, token)) await parts.oneTime.peek(db, 'setup', token);
}

/** Of concurrent calls one succeeds, which uses up all setup tokens. @throws AppError 400 */
async function claim(parts: AuthParts, trx: Trx, token: string): Promise<void> {
  await parts.directory.serialise(trx);
  await serialiseRights(trx, parts.kernel.store.dialect);
  if (await hasOwner(parts, trx)) throw invalidToken();
  if (!isConfigured(parts, token)) await parts.oneTime.consume(trx, 'setup', token);
  await parts.oneTime.endKind(trx, 'setup');
}

function isConfigured({ config }: AuthParts, token: string): boolean {
  return config.setupToken !== null && sameText(digest(token), digest(config.setupToken));
}
