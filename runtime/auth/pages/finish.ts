import type { Reply } from '@twofold/runtime/http';
import type { LoginObject } from '../sessions/issue-tokens.ts';
import { keepPagesSession } from '../sessions/pages-session.ts';
import { issueReturnCode } from '../oauth/return-code.ts';
import { checkReturnTo, withParameter } from '../sign-in/redirect.ts';
import type { Amr } from '../sessions/sessions.ts';
import { MINUTE } from '../base/time.ts';
import type { PageRequest, Redirect } from './page.ts';

/** Where a sign-in ends. */
export interface Target {
  readonly returnTo: string | null;
  readonly codeChallenge?: string | undefined;
}

/**
 * The target that the address of a page names.
 *
 * @throws AppError 400 `Invalid redirect`
 */
export function targetOf({ query, auth }: PageRequest): Target {
  const codeChallenge = query['code_challenge'];
  return {
    returnTo: checkReturnTo(query['return_to'], auth.model.oauth.returnTo, codeChallenge),
    codeChallenge,
  };
}

/** Query parameters that keep the target of a sign-in in a link to another page. */
export const targetQuery = ({ query }: PageRequest) => ({
  return_to: query['return_to'],
  code_challenge: query['code_challenge'],
});

/**
 * Goes on after an answer of a sign-in: to the next step of it, or to its end. The session of the
 * pages begins here.
 */
export async function proceed(
  request: PageRequest,
  { status, body }: Reply,
  target: Target,
): Promise<Redirect> {
  const { koa, cookies, auth } = request;
  const {
    next,
    ticket,
    methods = [],
  } = body as {
    next?: string;
    ticket?: string;
    methods?: readonly string[];
  };
  if (status !== 202 || !ticket) return finish(request, body as LoginObject, target);
  cookies.writeStep(koa, {
    next: next ?? 'email_sign_in',
    ticket,
    methods,
    returnTo: target.returnTo,
    ...(target.codeChallenge && { codeChallenge: target.codeChallenge }),
    until: auth.now() + 10 * MINUTE,
  });
  return { redirect: request.path('second-factor') };
}

/** Begins the session of the pages and redirects to the target, or to the account. */
export async function finish(
  request: PageRequest,
  login: LoginObject,
  target: Target,
): Promise<Redirect> {
  const { koa, cookies } = request;
  keepPagesSession(request.auth, koa, login);
  if (request.step) cookies.clearStep(koa);
  if (target.returnTo === null) return { redirect: request.path('account') };
  // The pages themselves need no code: they have their session now.
  if (target.returnTo.startsWith(request.path('account').replace(/account$/, '')))
    return { redirect: target.returnTo };
  return { redirect: await addCode(request, login, target) };
}

/**
 * The target, with a code for `POST /api/oauth/exchange`. Where the refresh token is in a cookie,
 * the browser has it already, but not an application beside it, which gave a challenge.
 */
async function addCode(
  { koa, auth }: PageRequest,
  login: LoginObject,
  { returnTo, codeChallenge }: Target,
): Promise<string> {
  const target = returnTo ?? '';
  if (auth.model.refresh.delivery === 'cookie' && !codeChallenge) return target;
  const claims = auth.tokens.user.verify(login.accessToken);
  const session = claims && (await auth.sessions.find(auth.db, claims.sid));
  if (!session) return target;
  const code = await issueReturnCode(auth, koa, {
    userId: login.id,
    method: session.auth_method,
    mark: session.id,
    secure: auth.config.secureCookies,
    challenge: codeChallenge ?? null,
    amr: (session.amr ?? 'pwd').split(' ') as Amr[],
  });
  return withParameter(target, 'code', code);
}
