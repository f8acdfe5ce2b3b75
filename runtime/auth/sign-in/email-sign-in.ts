import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { WrongAnswer } from '../second-factor/recovery-codes.ts';
import { asUser, type Caller, callerOf } from '../base/caller.ts';
import { setCookie } from '../base/cookie.ts';
import { digest, randomToken } from '../base/ids.ts';
import { identifierOf } from '../limits/identifier.ts';
import { sameText } from '../secrets/keys.ts';
import { pageLink } from '../mails/links.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import { type Asker, askerOf, mayMailStranger } from '../mails/stranger-mail.ts';
import { MINUTE, SECOND } from '../base/time.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { assertSignInAllowed, requireApiKey } from './login.ts';
import { advance } from './advance.ts';
import { forClient } from './enter-application.ts';
import type { Entry } from './entry.ts';
import {
  answerUnderLockout,
  type CodeAttempt,
  isSealedCode,
  newCode,
  sealCode,
} from './code-attempt.ts';
import { endEmailSignIns } from './ended-access.ts';
import { claimOf, proveAddress, serialiseProofs } from './first-proof.ts';
import { checkReturnTo, withParameter } from './redirect.ts';
import { MAX_ANSWERS } from './tickets.ts';

const COOKIE = 'email_sign_in';
const LIFETIME = 10 * MINUTE;

/**
 * `POST /api/auth/email-sign-in`: answered before the account is looked up, and alike for an address
 * that no account has.
 */
export async function startEmailSignIn(auth: AuthState, call: Call): Promise<Reply> {
  const { context, koa, body } = call;
  requireApiKey(auth, context);
  auth.mails.assertAvailable();
  const returnTo = checkReturnTo(body.return_to, auth.model.oauth.returnTo);
  const request = newRequest(auth, { email: body.email, returnTo, caller: callerOf(context) });
  await store(auth, request);
  const asker = askerOf(auth, call, request.email);
  auth.background.run(() => mailRequest(auth, request, asker));
  setCookie(koa, COOKIE, request.ticket, { life: LIFETIME, secure: auth.config.secureCookies });
  return reply(200, { ticket: request.ticket, expires_in: LIFETIME / SECOND });
}

/** A request for a mail, with its secrets. */
interface MailRequest {
  readonly email: string;
  readonly identifierHash: string;
  readonly ticket: string;
  readonly code: string | null;
  readonly token: string | null;
  readonly returnTo: string | null;
  readonly caller: Caller;
}

function newRequest(
  auth: AuthState,
  asked: Pick<MailRequest, 'email' | 'returnTo' | 'caller'>,
): MailRequest {
  const { emailSignIn: mode } = auth.model;
  return {
    ...asked,
    identifierHash: identifierOf(auth, asked.email),
    ticket: randomToken(32),
    code: mode === 'link' ? null : newCode(),
    token: mode === 'code' ? null : randomToken(32),
  };
}

/** Stores the request. Earlier ones live on: whoever asks again ends nobody's mail. */
async function store(auth: AuthState, request: MailRequest): Promise<void> {
  const { identifierHash, ticket, code, token } = request;
  const { store: database, now } = auth;
  const hash = digest(ticket);
  const row = {
    hash,
    identifier_hash: identifierHash,
    user_id: null,
    code: code && sealCode(auth, hash, code),
    token: token && digest(token),
    created_at: now(),
    expires_at: now() + LIFETIME,
    used_at: null,
  };
  await database.db.insertInto('auth_email_sign_ins').values(row).execute();
}

/**
 * Mails the link and the code to the owner of the address, if there is one. A request becomes valid
 * only here, so one that is over the limit of mails cannot be guessed.
 */
async function mailRequest(auth: AuthState, request: MailRequest, asker: Asker): Promise<void> {
  const { db } = auth;
  const account = await auth.directory.findByEmail(db, request.email);
  if (!account || isClosed(account)) return;
  const { caller } = request;
  if (!(await mayMailStranger(auth, { to: account.email, caller }, asker))) return;
  await db
    .updateTable('auth_email_sign_ins')
    .set({ user_id: account.id })
    .where('hash', '=', digest(request.ticket))
    .execute();
  const { token, code, returnTo } = request;
  const page = token === null ? '' : pageLink(auth, 'email-sign-in', token);
  const link = page && returnTo ? withParameter(page, 'return_to', returnTo) : page;
  const recipient = { to: account.email, account, caller };
  auth.mails.send('sign-in', recipient, { link, code: code ?? '', minutes: LIFETIME / MINUTE });
}

/** `POST /api/auth/email-sign-in/complete {token | code, ticket?}` */
export async function finishEmailSignIn(auth: AuthState, call: Call): Promise<Reply> {
  requireApiKey(auth, call.context);
  const { body, koa } = call;
  if ((body.code === undefined) === (body.token === undefined))
    throw failure.badRequest(body.code === undefined ? 'code is required' : 'token must be absent');
  const found = await findRequest(auth, body.ticket ?? koa.cookies.get(COOKIE) ?? '');
  if (!found) throw invalidToken();
  const answer = await complete(auth, call, found);
  setCookie(koa, COOKIE, '', { life: 0, secure: auth.config.secureCookies });
  return answer;
}

/** A request that is alive, with the account of its address; null for an address without one. */
interface OpenRequest {
  readonly hash: string;
  readonly identifierHash: string;
  readonly code: string | null;
  readonly token: string | null;
  readonly account: Account | null;
}

async function findRequest(auth: AuthState, ticket: string): Promise<OpenRequest | null> {
  const { db } = auth;
  const row = await db
    .selectFrom('auth_email_sign_ins')
    .selectAll()
    .where('hash', '=', digest(ticket))
    .where('used_at', 'is', null)
    .where('expires_at', '>', auth.now())
    .executeTakeFirst();
  if (!row) return null;
  const { hash, code, token, user_id: userId, identifier_hash: identifierHash } = row;
  const account = userId === null ? null : await auth.directory.find(db, userId);
  const same = account && identifierOf(auth, account.email) === identifierHash;
  return { hash, identifierHash, code, token, account: same ? account : null };
}

/**
 * A wrong code ends the request after five, whether its address has an account or not. It counts
 * for the lockout too, so that many requests do not give many guesses.
 */
async function complete(auth: AuthState, call: Call, request: OpenRequest): Promise<Reply> {
  const { account, token, code, hash, identifierHash } = request;
  if (!(await countAnswer(auth, hash))) throw invalidToken();
  if (call.body.code === undefined) {
    const right = token !== null && sameText(token, digest(call.body.token));
    if (!right || !account) throw invalidToken();
    return enter(auth, call, hash, account);
  }
  const attempt: CodeAttempt = {
    call,
    identifierHash,
    account,
    kind: 'email',
    error: invalidToken,
  };
  return answerUnderLockout(auth, attempt, async () => {
    const given = String(call.body.code).replaceAll(/\s/g, '');
    const right = code !== null && isSealedCode(auth, hash, given, code);
    if (!right || !account) throw new WrongAnswer();
    return enter(auth, call, hash, account);
  });
}

async function countAnswer(auth: AuthState, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await auth.db
    .updateTable('auth_email_sign_ins')
    .set((set) => ({ answers: set('answers', '+', 1) }))
    .where('hash', '=', hash)
    .where('answers', '<', MAX_ANSWERS)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/**
 * The mail proved the address, in the transaction that signs in: a sign-in that fails uses nothing
 * up. Of two requests with one mail one signs in.
 */
async function enter(auth: AuthState, call: Call, hash: string, account: Account): Promise<Reply> {
  await assertSignInAllowed(auth, call.context, { ...account, emailVerified: true });
  const caller = asUser(callerOf(call.context), account.id);
  const claim = await claimOf(auth, call, account);
  return auth.store.transaction(async () => {
    const proved = await auth.events.transact(caller, async (change) => {
      const { trx } = change;
      if (!account.emailVerified) await serialiseProofs(auth, trx);
      const { numUpdatedRows } = await trx
        .updateTable('auth_email_sign_ins')
        .set({ used_at: auth.now() })
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst();
      if (Number(numUpdatedRows) !== 1) throw invalidToken();
      await endEmailSignIns(auth, trx, identifierOf(auth, account.email));
      await proveAddress(auth, change, account.id, claim);
      return auth.directory.find(trx, account.id);
    });
    const goal = { kind: 'session', status: 200 } as const;
    const entry: Entry = { account: proved!, method: 'email', amr: ['email'], goal };
    return advance(auth, call, forClient(entry, call.body));
  });
}
