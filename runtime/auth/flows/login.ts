import { failure } from '@twofold/runtime/errors';
import type { Call, Reply } from '@twofold/runtime/http';
import { object, text } from '@twofold/schema/shapes';
import type { AuthState } from '../state.ts';
import { clientOf } from '../sessions/client.ts';
import { refreshSession } from '../sign-in/refresh.ts';
import { assertSecureEntry } from '../sessions/client-cookie.ts';
import { finishEmailSignIn, startEmailSignIn } from '../sign-in/email-sign-in.ts';
import { signInHost } from '../sign-in/host-login.ts';
import {
  assertPasswordSignInAllowed,
  checkPassword,
  requireApiKey,
  toAttempt,
} from '../sign-in/login.ts';
import { advance } from '../sign-in/advance.ts';
import { forClient } from '../sign-in/enter-application.ts';
import type { Entry } from '../sign-in/entry.ts';
import { flow, LOGGED_IN, STEP_LEFT } from './flow.ts';
import { ADDRESS, CLIENT, OPTIONAL_TOKEN, PASSWORD, SHORT, STEP, TOKEN, WHOLE } from './shapes.ts';

export const login = flow('POST /api/auth/login', {
  needs: 'public',
  limits: ['login-ip'],
  summary:
    'Sign in with an email and a password; with a password alone, as the operator of the hosting server',
  body: object({ email: ADDRESS, password: PASSWORD, code: OPTIONAL_TOKEN, ...CLIENT }),
  answers: { ...LOGGED_IN, ...STEP_LEFT },
  refuses: {
    400: 'A field is missing',
    401: 'Wrong credentials',
    403: 'Refused after a correct password',
    423: 'Account locked',
    429: 'Rate limit exceeded',
    503: 'Too many logins at once',
  },
  handle(call, auth) {
    assertSecureEntry(auth, call, clientOf(call.body));
    const { email, password, code } = call.body;
    if (code && auth.config.operator && !email && !password) return signInHost(auth, call);
    if (!email && !password && auth.config.operator)
      throw failure.badRequest(
        `${auth.config.users ? 'email, password' : 'password'} or code is required`,
      );
    if (!email && !auth.config.operator) throw failure.badRequest('email is required');
    if (!password) throw failure.badRequest('password is required');
    if (!email) return signInHost(auth, call);
    if (!auth.config.users) throw failure.unauthenticated('Invalid credentials');
    return signInByPassword(auth, call);
  },
});

export const refresh = flow('POST /api/auth/refresh', {
  needs: 'public',
  limits: ['refresh-ip'],
  summary: 'A new access token for a refresh token, which is replaced',
  optional: true,
  body: object({ refreshToken: OPTIONAL_TOKEN, ...CLIENT }),
  answers: LOGGED_IN,
  refuses: { 401: 'Invalid refresh token', 403: 'A page of another origin sent the cookie' },
  handle: (call, auth) => refreshSession(auth, call),
});

export const emailSignIn = flow('POST /api/auth/email-sign-in', {
  needs: 'public',
  limits: ['forgot-ip'],
  summary: 'Ask for a mail that signs in, with a link, a code or both',
  body: object({ email: ADDRESS, return_to: SHORT }, ['email']),
  answers: {
    200: [
      'The same for an address that no account has',
      object({ ticket: text, expires_in: WHOLE }),
    ],
  },
  refuses: { 400: 'Invalid redirect', 429: 'Rate limit exceeded', 503: 'Mail is not set up' },
  handle: (call, auth) => startEmailSignIn(auth, call),
});

export const completeEmailSignIn = flow('POST /api/auth/email-sign-in/complete', {
  needs: 'public',
  limits: ['login-ip'],
  summary: 'Sign in with the link or the code of the mail, in the browser that asked for it',
  body: object({ token: TOKEN, code: SHORT, ticket: OPTIONAL_TOKEN, ...CLIENT }),
  answers: { ...LOGGED_IN, 202: ['A step is left', STEP] },
  refuses: {
    400: 'Invalid or expired token',
    403: 'Account disabled',
    423: 'Account locked',
    429: 'Rate limit exceeded',
  },
  handle: (call, auth) => finishEmailSignIn(auth, call),
});

/** `POST /api/auth/login {email, password}` */
async function signInByPassword(auth: AuthState, call: Call): Promise<Reply> {
  const { context, koa, body } = call;
  requireApiKey(auth, context);
  const attempt = toAttempt(auth, context, koa, body.email, body.password);
  await auth.limits.enforce(koa, [
    { policy: 'login-identifier', subject: attempt.key.identifierHash },
  ]);
  const account = await checkPassword(auth, attempt, (found) =>
    assertPasswordSignInAllowed(auth, attempt, found),
  );
  const goal = { kind: 'session', status: 200 } as const;
  const entry: Entry = { account, method: 'password', amr: ['pwd'], goal };
  return advance(auth, call, forClient(entry, body));
}
