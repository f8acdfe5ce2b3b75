import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { flag, object } from '@twofold/schema/shapes';
import { isUserId } from '../base/ids.ts';
import { callerOf } from '../base/caller.ts';
import type { AccessClaims } from '../sessions/access-token.ts';
import { isOpaqueId } from '../base/identity-rules.ts';
import { SECOND } from '../base/time.ts';
import { assertHoldsAsMuch } from '../requests/authority.ts';
import { adminFlow } from './flow.ts';
import { ID, SHORT, TOKEN, WHOLE } from './shapes.ts';

export const revokeTokens = adminFlow('POST /api/auth/admin/tokens/revoke', {
  needs: 'admin',
  audit: { target: 'user:{user_id}', atomic: true },
  summary: 'Blacklist a token, a token id, or every token of a user',
  body: object({ jti: SHORT, token: TOKEN, user_id: ID }),
  answers: { 200: ['How many', object({ revoked: WHOLE })] },
  async handle({ context, body }, auth) {
    const caller = callerOf(context);
    const { jti, token, user_id } = body;
    if ([jti, token, user_id].filter((each) => each !== undefined).length !== 1)
      throw failure.badRequest('one of jti, token and user_id is required');
    const claims = token === undefined ? null : auth.tokens.user.verify(token);
    if (token !== undefined && !claims) return reply(200, { revoked: 0 });
    const revoked = await auth.events.transact(caller, async ({ trx, emit }) => {
      if (user_id !== undefined) {
        const account = isUserId(user_id) ? await auth.directory.find(trx, user_id) : null;
        if (!account) throw failure.notFound('User not found');
        await assertHoldsAsMuch(auth, trx, context, account);
        const count = await auth.sessions.endAll(trx, account.id, 'revoked');
        await auth.directory.update(trx, account.id, { tokens_valid_after: auth.now() });
        emit('token.revoked', account.id, { revoked: count });
        return count;
      }
      if (jti !== undefined && !isOpaqueId(jti)) throw failure.badRequest('Invalid request');
      const owner = claims ? await auth.directory.find(trx, claims.user_id) : null;
      if (owner) await assertHoldsAsMuch(auth, trx, context, owner);
      // If only the id is known: the latest time at which a token with this id can expire.
      const exp = claims?.exp ?? Math.ceil((auth.now() + auth.model.jwt.ttl) / SECOND);
      await auth.sessions.blacklist(
        trx,
        { jti: claims?.jti ?? jti!, exp },
        claims?.user_id ?? null,
        'revoked',
      );
      emit('token.revoked', claims?.user_id ?? null, { revoked: 1 });
      return 1;
    });
    return reply(200, { revoked });
  },
});

export const introspect = adminFlow('POST /api/auth/admin/introspect', {
  needs: 'admin',
  audit: false,
  summary: 'Whether a token is live, and its claims (RFC 7662)',
  body: object({ token: TOKEN }, ['token']),
  answers: { 200: ['Its state', object({ active: flag }, ['active'])] },
  async handle({ body }, auth) {
    const isLive = async (claims: AccessClaims) => (await auth.sessions.check(claims)) !== null;
    const claims = auth.tokens.user.verify(body.token);
    if (!claims || !(await isLive(claims))) return reply(200, { active: false });
    const { user_id, exp, iat, jti, sid, extend } = claims;
    return reply(200, { active: true, user_id, exp, iat, jti, sid, extend });
  },
});
