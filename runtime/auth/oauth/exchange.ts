import { type Handler, reply } from '@twofold/runtime/http';
import { requireApiKey } from '../login.ts';
import { invalidToken } from '../one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { deliverLogin } from '../refresh-cookie.ts';
import { assertMayEnter } from './callback.ts';
import { redeemCode } from './return-code.ts';

/** `POST /api/oauth/exchange {code, code_verifier?}` */
export function createExchange(parts: AuthParts): Handler {
  return async ({ context, koa, body }) => {
    requireApiKey(parts, context);
    const { userId, method } = await redeemCode(parts, koa, body);
    const account = await parts.directory.find(parts.kernel.store.db, userId);
    if (!account) throw invalidToken();
    await assertMayEnter(parts, context, account);
    const login = await parts.signIn.open(context, account, method, { kind: 'oauth' });
    return reply(200, deliverLogin(parts, koa, login));
  };
}
