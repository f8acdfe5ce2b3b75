import type { Handler } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { assertSignInAllowed, byProvider } from './callback.ts';
import { redeemCode } from './return-code.ts';

/** `POST /api/oauth/exchange {code, code_verifier?}` */
export function createExchange(parts: AuthParts): Handler {
  return async (call) => {
    const { context, koa, body } = call;
    requireApiKey(parts, context);
    const { userId, method, amr } = await redeemCode(parts, koa, body);
    const account = await parts.directory.find(parts.kernel.store.db, userId);
    if (!account) throw invalidToken();
    await assertSignInAllowed(parts, context, account);
    const entry = { ...byProvider(account, method), ...(amr && { amr }) };
    return advance(parts, call, forClient(entry, body));
  };
}
