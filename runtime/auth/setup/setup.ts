import { failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import type { Change } from '../events/events.ts';
import type { Trx } from '../base/tables.ts';
import { refuseImpersonation } from '../requests/authority.ts';
import { advance } from '../sign-in/advance.ts';
import { unauthorized } from '../requests/authenticate.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { digest, type UserId } from '../base/ids.ts';
import { sameText } from '../secrets/keys.ts';
import { pageLink } from '../mails/links.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import { firstRole, hasOwner } from '../users/owners.ts';
import type { AuthState } from '../state.ts';
import { serialiseRights } from '../users/permissions.ts';
import { signedInAccount } from '../requests/proof.ts';
import {
  createUser,
  isUniqueViolation,
  openNew,
  readUser,
  userExists,
} from '../sign-in/register.ts';
import { giveRole, roleByName } from '../users/roles.ts';
import type { Amr } from '../sessions/sessions.ts';
import { mailVerification } from '../sign-in/mailed-links.ts';

/**
 * `POST /api/auth/setup`: makes a user the first administrator, with the role `roles.first`. The
 * token of the setup link, or `SETUP_TOKEN`, works while no user has that role. Of several
 * concurrent requests only one succeeds.
 */
export async function claimSetup(auth: AuthState, call: Call): Promise<Reply> {
  requireApiKey(auth, call.context);
  if (firstRole(auth.model) === null) throw failure.notFound();
  await assertToken(auth, call.body.token);
  const signedIn = call.koa.get('Authorization') !== '';
  return signedIn ? claimSignedIn(auth, call) : claimNew(auth, call);
}

/** The setup link. With `pages: false`, a page of the project's own sends the token back. */
export const setupLink = (auth: AuthState, token: string): string =>
  auth.model.pages === false
    ? `${auth.config.appUrl}/auth/setup?token=${token}`
    : pageLink(auth, 'setup', token);

/** Creates a setup token that works for an hour. Earlier ones stay valid. */
export function issueSetupToken(auth: AuthState): Promise<string> {
  return auth.oneTime.issue(auth.db, 'setup', null, { newestOnly: false });
}

async function claimSignedIn(auth: AuthState, call: Call): Promise<Reply> {
  const { context, body } = call;
  if (context.principal.kind !== 'user') throw unauthorized(context);
  refuseImpersonation(context);
  const { account, sessionId } = await signedInAccount(auth, context);
  const caller = asUser(callerOf(context), account.id);
  const amr = context.values.get<readonly Amr[]>('amr')[0] ?? ['pwd'];
  return auth.events.transact(caller, async (change) => {
    await claim(auth, change.trx, body.token);
    await giveFirstRole(auth, change, account.id);
    // The response has new tokens with the new role, so the session of the old tokens ends.
    await auth.sessions.end(change.trx, sessionId, 'setup');
    const owner = await auth.directory.find(change.trx, account.id);
    if (!owner) throw failure.notFound('User not found');
    const goal = { kind: 'session', status: 200 } as const;
    return advance(auth, call, { account: owner, method: 'setup', amr, goal });
  });
}

async function claimNew(auth: AuthState, call: Call): Promise<Reply> {
  const { context, body } = call;
  for (const field of ['email', 'password'])
    if (!body[field]) throw failure.badRequest(`${field} is required`);
  const user = await readUser(auth, body);
  const caller = callerOf(context);
  const { token, ...shown } = body;
  const registering = { context, body: shown };
  const create = () =>
    auth.events.transact(caller, async (change) => {
      await claim(auth, change.trx, token);
      const id = await createUser(auth, change, { ...user, registering });
      await giveFirstRole(auth, { ...change, caller: asUser(caller, id) }, id);
      await mailVerification(auth, change, { userId: id, email: user.patch.email });
      return id;
    });
  return openNew(auth, call, user.patch.email, 'setup', create).catch((error: unknown) => {
    throw isUniqueViolation(error) ? userExists() : error;
  });
}

async function giveFirstRole(auth: AuthState, change: Change, userId: UserId): Promise<void> {
  const account = await auth.directory.find(change.trx, userId);
  const role = await roleByName(change.trx, firstRole(auth.model) ?? '');
  if (!account || !role) throw failure.notFound('Role not found');
  await giveRole(auth, change, account, role.id);
  change.emit('user.setup', userId, { role: role.name });
}

/** A cheap check before expensive work. `claim` decides. @throws AppError 400 */
async function assertToken(auth: AuthState, token: string): Promise<void> {
  const { db } = auth;
  if (await hasOwner(auth, db)) throw invalidToken();
  if (!isConfigured(auth, token)) await auth.oneTime.peek(db, 'setup', token);
}

/** Of concurrent calls one succeeds, which uses up all setup tokens. @throws AppError 400 */
async function claim(auth: AuthState, trx: Trx, token: string): Promise<void> {
  await auth.directory.serialise(trx);
  await serialiseRights(trx, auth.store.dialect);
  if (await hasOwner(auth, trx)) throw invalidToken();
  if (!isConfigured(auth, token)) await auth.oneTime.consume(trx, 'setup', token);
  await auth.oneTime.endKind(trx, 'setup');
}

function isConfigured(auth: AuthState, token: string): boolean {
  return auth.config.setupToken !== null && sameText(digest(token), digest(auth.config.setupToken));
}
