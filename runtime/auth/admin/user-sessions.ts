import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import type { AuthParts } from '../parts.ts';
import { sessionView } from '../sessions/logout.ts';
import { actOn, findUser } from './users.ts';

/** Routes by which administrators see the sessions of a user, and end one of them. */
export function userSessionHandlers(parts: AuthParts): {
  readonly userSessions: Handler;
  readonly endUserSession: Handler;
} {
  const { sessions, kernel } = parts;
  return {
    userSessions: async ({ context: { principal }, params }) => {
      const { id } = await findUser(parts, params['id']);
      const own = principal.kind === 'user' ? principal.sessionId : '';
      const live = await sessions.live(kernel.store.db, id);
      const shown = live.map((session) => sessionView(session, own));
      return reply(200, { sessions: shown, total: shown.length });
    },
    endUserSession: async (call) => {
      await actOn(parts, call, async (account, trx, emit) => {
        const live = await sessions.live(trx, account.id);
        const session = live.find(({ id }) => id === call.params['sid']);
        const reason = 'ended by an administrator';
        if (!session || !(await sessions.end(trx, session.id, reason)))
          throw failure.notFound('Session not found');
        emit('auth.session_ended', account.id, { session_id: session.id, reason });
      });
      return reply(204);
    },
  };
}
