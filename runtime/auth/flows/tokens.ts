import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { flag, object } from '@twofold/schema/shapes';
import { isUserId } from '../ids.ts';
import { callerOf } from '../requests/caller.ts';
import type { AccessClaims } from '../sessions/access-token.ts';
import { isOpaqueId } from '../sign-in/identity-rules.ts';
import { SECOND } from '../time.ts';
import { assertHoldsAsMuch } from '../users/authority.ts';
import { adminFlow } from './flow.ts';
import { ID, SHORT, TOKEN, WHOLE } from './shapes.ts';

export const revokeTokens = adminFlow('POST /api/auth/admin/tokens/revoke', {
  needs: 'admin',
  audit: { target: 'user:{user_id}', atomic: true },
  summary: 'Blacklist a token, a token id, or every token of a user',
  body: object({ jti: SHORT, token: TOKEN, user_id: ID }),
  answers: { 200: ['How many', object({ revoked: WHOLE })] },
  async handle({ context, body }, parts) {
    const { kernel, accessTokens, sessions, events, directory } = parts;
    const caller = callerOf(context);
    const { jti, token, user_id } = body;
    if ([jti, token, user_id].filter((each) => each !== undefined).length !== 1)
      throw failure.badRequest('one of jti, token and user_id is required');
    const claims = token === undefined ? null : accessTokens.verify(token);
    if (token !== undefined && !claims) return reply(200, { revoked: 0 });
    const revoked = await events.transact(caller, async (trx, emit) => {
      if (user_id !== undefined) {
        const account = isUserId(user_id) ? await directory.find(trx, user_id) : null;
        if (!account) throw failure.notFound('User not found');
        await assertHoldsAsMuch(parts, trx, context, account);
        const count = await sessions.endAll(trx, account.id, 'revoked');
        await directory.update(trx, account.id, { tokens_valid_after: kernel.now() });
        emit('token.revoked', account.id, { revoked: count });
        return count;
      }
      if (jti !== undefined && !isOpaqueId(jti)) throw failure.badRequest('Invalid request');
      const owner = claims ? await directory.find(trx, claims.user_id) : null;
      if (owner) await assertHoldsAsMuch(parts, trx, context, owner);
      // If only the id is known: the latest time at which a token with this id can expire.
      const exp = claims?.exp ?? Math.ceil((kernel.now() + parts.model.jwt.ttl) / SECOND);
      await sessions.blacklist(
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
  async handle({ body }, { accessTokens, sessions }) {
    const isLive = async (claims: AccessClaims) => (await sessions.check(claims)) !== null;
    const claims = accessTokens.verify(body.token);
    if (!claims || !(await isLive(claims))) return reply(200, { active: false });
    const { user_id, exp, iat, jti, sid, extend } = claims;
    return reply(200, { active: true, user_id, exp, iat, jti, sid, extend });
  },
});
