import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { assertHoldsAsMuch } from '../users/authority.ts';
import { callerOf } from '../requests/caller.ts';
import { checkText } from '../sign-in/identity-rules.ts';
import type { AuthParts } from '../parts.ts';
import { serialiseRights } from '../users/permissions.ts';
import { assertStillOpen, signedInAccount } from '../steps/reauthentication.ts';
import { rfc3339 } from '../time.ts';
import { isClosed } from '../users/user-directory.ts';
import { findUser } from './users.ts';

/**
 * `POST /api/auth/admin/users/:id/impersonate`: opens a short session in which an administrator acts
 * as the user. It has no refresh token and never a proof, so it changes nothing that signs the user
 * in, and it cannot be used to act as a third user.
 */
export function createImpersonate(parts: AuthParts): Handler {
  return async ({ context, params, body }) => {
    const { impersonation } = parts.model;
    if (impersonation === false) throw failure.notFound();
    const { account: administrator, sessionId } = await signedInAccount(parts, context);
    const reason = checkText('reason', body.reason);
    const caller = callerOf(context);
    const { account, session } = await parts.events.transact(caller, async (trx, emit) => {
      await serialiseRights(trx, parts.kernel.store.dialect);
      await assertStillOpen(parts, trx, sessionId);
      const user = await findUser(parts, params['id'], trx);
      await assertHoldsAsMuch(parts, trx, context, user);
      if (user.id === administrator.id || isClosed(user)) throw failure.forbidden();
      const opened = await parts.sessions.open(trx, caller, {
        userId: user.id,
        method: 'impersonation',
        // Empty because no factor of the user was checked: the administrator acts in their place.
        amr: [],
        lifetimes: { idle: impersonation.ttl, absolute: impersonation.ttl },
        impersonatedBy: administrator.id,
      });
      const until = rfc3339(opened.session.absolute_expires_at);
      emit('user.impersonated', user.id, { reason, until, session_id: opened.session.id });
      return { account: user, session: opened.session };
    });
    const { login } = await parts.signIn.continue(context, account, session, session.gen);
    return reply(200, login);
  };
}
