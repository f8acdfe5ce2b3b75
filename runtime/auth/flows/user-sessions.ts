import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { object } from '@twofold/schema/shapes';
import { endSessions } from '../sign-in/ended-access.ts';
import { actOn, findUser } from '../admin/users.ts';
import { callerOf } from '../base/caller.ts';
import { continueSession } from '../sign-in/open-session.ts';
import { sessionView } from '../sessions/sessions.ts';
import { checkText } from '../base/identity-rules.ts';
import { assertStillOpen, signedInAccount } from '../requests/proof.ts';
import { rfc3339 } from '../base/time.ts';
import { assertHoldsAsMuch } from '../requests/authority.ts';
import { serialiseRights } from '../users/permissions.ts';
import { isClosed } from '../users/user-directory.ts';
import { adminFlow } from './flow.ts';
import { LOGIN, SESSIONS } from './shapes.ts';

const REASON = { type: 'string', minLength: 1, maxLength: 256, pattern: '\\S' } as const;

/**
 * Opens a short session in which an administrator acts
 * as the user. It has no refresh token and never a proof, so it changes nothing that signs the user
 * in, and it cannot be used to act as a third user.
 */
export const impersonate = adminFlow('POST /api/auth/admin/users/:id/impersonate', {
  needs: 'impersonate',
  security: ['bearer'],
  audit: { target: 'user:{id}', values: ['reason'] },
  summary: 'Act as a user for a while, with the permission auth:impersonate and a proof',
  body: object({ reason: REASON }, ['reason']),
  answers: { 200: ['The login object, without a refresh token', LOGIN] },
  refuses: {
    401: 'No valid bearer token',
    403: 'Forbidden, or Reauthentication required',
    404: 'User not found',
  },
  async handle({ context, params, body }, auth) {
    const { impersonation } = auth.model;
    if (impersonation === false) throw failure.notFound();
    const { account: administrator, sessionId } = await signedInAccount(auth, context);
    const reason = checkText('reason', body.reason);
    const caller = callerOf(context);
    const { account, session } = await auth.events.transact(caller, async ({ trx, emit }) => {
      await serialiseRights(trx, auth.store.dialect);
      await assertStillOpen(auth, trx, sessionId);
      const user = await findUser(auth, params.id, trx);
      await assertHoldsAsMuch(auth, trx, context, user);
      if (user.id === administrator.id || isClosed(user)) throw failure.forbidden();
      const opened = await auth.sessions.open(trx, caller, {
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
    const { login } = await continueSession(auth, context, account, {
      current: session,
      generation: session.gen,
    });
    return reply(200, login);
  },
});

export const userSessions = adminFlow('GET /api/auth/admin/users/:id/sessions', {
  needs: 'admin',
  summary: 'Live sessions of a user',
  answers: { 200: ['The sessions', SESSIONS] },
  async handle({ context: { principal }, params }, auth) {
    const { id } = await findUser(auth, params.id);
    const own = principal.kind === 'user' ? principal.sessionId : '';
    const live = await auth.sessions.live(auth.db, id);
    const shown = live.map((session) => sessionView(session, own));
    return reply(200, { sessions: shown, total: shown.length });
  },
});

export const endUserSession = adminFlow('DELETE /api/auth/admin/users/:id/sessions/:sid', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'End one session of a user',
  answers: { 204: ['Ended'] },
  refuses: { 404: 'User not found, or Session not found' },
  async handle(call, auth) {
    await actOn(auth, call, async (account, { trx, emit }) => {
      const live = await auth.sessions.live(trx, account.id);
      const session = live.find(({ id }) => id === call.params.sid);
      const reason = 'ended by an administrator';
      if (!session || !(await auth.sessions.end(trx, session.id, reason)))
        throw failure.notFound('Session not found');
      emit('auth.session_ended', account.id, { session_id: session.id, reason });
    });
    return reply(204);
  },
});

export const endUserSessions = adminFlow('DELETE /api/auth/admin/users/:id/sessions', {
  needs: 'admin',
  audit: { target: 'user:{id}', atomic: true },
  summary: 'End every session of a user',
  answers: { 204: ['Ended'] },
  async handle(call, auth) {
    await actOn(auth, call, (account, change) =>
      endSessions(auth, change, account.id, 'ended by an administrator'),
    );
    return reply(204);
  },
});
