import type { Handler } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import type { Entry } from '../steps/entry.ts';
import { assertPasswordSignInAllowed, checkPassword, requireApiKey, toAttempt } from './login.ts';
import type { AuthParts } from '../parts.ts';

/** `POST /api/auth/login {email, password}` */
export function createLogin(parts: AuthParts): Handler {
  return async (call) => {
    const { context, koa, body } = call;
    requireApiKey(parts, context);
    const attempt = toAttempt(parts, context, koa, body.email, body.password);
    await parts.limits.enforce(koa, [
      { policy: 'login-identifier', subject: attempt.key.identifierHash },
    ]);
    const account = await checkPassword(parts, attempt, (found) =>
      assertPasswordSignInAllowed(parts, attempt, found),
    );
    const goal = { kind: 'session', status: 200 } as const;
    const entry: Entry = { account, method: 'password', amr: ['pwd'], goal };
    return advance(parts, call, forClient(entry, body));
  };
}
