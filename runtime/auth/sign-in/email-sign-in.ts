import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import type { Entry } from '../steps/entry.ts';
import { asUser, type Caller, callerOf } from '../requests/caller.ts';
import { ownCookie } from '../requests/own-cookie.ts';
import { answerUnderLockout, type CodeAttempt, WrongAnswer } from '../steps/code-attempt.ts';
import { endEmailSignIns } from './email-sign-in-rows.ts';
import { digest, randomToken } from '../ids.ts';
import { claimOf, proveAddress, serialiseProofs } from './first-proof.ts';
import { identifierOf } from './identifier.ts';
import { sameText } from '../secrets/keys.ts';
import { pageLink } from '../mails/links.ts';
import { requireApiKey } from './login.ts';
import { isSealedCode, newCode, sealCode } from '../steps/mailed-code.ts';
import { assertSignInAllowed } from '../oauth/callback.ts';
import { checkReturnTo, withParameter } from '../oauth/redirect.ts';
import { invalidToken } from '../secrets/one-time-tokens.ts';
import type { AuthParts } from '../parts.ts';
import { type Asker, askerOf, mayMailStranger } from '../mails/stranger-mail.ts';
import { MAX_ANSWERS } from '../steps/tickets.ts';
import { MINUTE, SECOND } from '../time.ts';
import { type Account, isClosed } from '../users/user-directory.ts';

const COOKIE = 'email_sign_in';
const LIFETIME = 10 * MINUTE;

/**
 * `POST /api/auth/email-sign-in`: answered before the account is looked up, and alike for an address
 * that no account has.
 */
export async function startEmailSignIn(parts: AuthParts, call: Call): Promise<Reply> {
  const { context, koa, body } = call;
  requireApiKey(parts, context);
  parts.mailer.assertAvailable();
  const returnTo = checkReturnTo(body.return_to, parts.model.oauth.returnTo);
  const request = newRequest(parts, { email: body.email, returnTo, caller: callerOf(context) });
  await store(parts, request);
  const asker = askerOf(parts, call, request.email);
  parts.background.run(() => mailRequest(parts, request, asker));
  ownCookie(parts, koa, COOKIE, request.ticket, LIFETIME);
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
  parts: AuthParts,
  asked: Pick<MailRequest, 'email' | 'returnTo' | 'caller'>,
): MailRequest {
  const { emailSignIn: mode } = parts.model;
  return {
    ...asked,
    identifierHash: identifierOf(parts, asked.email),
    ticket: randomToken(32),
    code: mode === 'link' ? null : newCode(),
    token: mode === 'code' ? null : randomToken(32),
  };
}

/** Stores the request. Earlier ones live on: whoever asks again ends nobody's mail. */
async function store(parts: AuthParts, request: MailRequest): Promise<void> {
  const { identifierHash, ticket, code, token } = request;
  const { store: database, now } = parts.kernel;
  const hash = digest(ticket);
  const row = {
    hash,
    identifier_hash: identifierHash,
    user_id: null,
    code: code && sealCode(parts, hash, code),
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
async function mailRequest(parts: AuthParts, request: MailRequest, asker: Asker): Promise<void> {
  const { db } = parts.kernel.store;
  const account = await parts.directory.findByEmail(db, request.email);
  if (!account || isClosed(account)) return;
  const { caller } = request;
  if (!(await mayMailStranger(parts, { to: account.email, caller }, asker))) return;
  await db
    .updateTable('auth_email_sign_ins')
    .set({ user_id: account.id })
    .where('hash', '=', digest(request.ticket))
    .execute();
  const { token, code, returnTo } = request;
  const page = token === null ? '' : pageLink(parts, 'email-sign-in', token);
  const link = page && returnTo ? withParameter(page, 'return_to', returnTo) : page;
  const recipient = { to: account.email, account, caller };
  parts.mails.send('sign-in', recipient, { link, code: code ?? '', minutes: LIFETIME / MINUTE });
}

/** `POST /api/auth/email-sign-in/complete {token | code, ticket?}` */
export async function finishEmailSignIn(parts: AuthParts, call: Call): Promise<Reply> {
  requireApiKey(parts, call.context);
  const { body, koa } = call;
  if ((body.code === undefined) === (body.token === undefined))
    throw failure.badRequest(body.code === undefined ? 'code is required' : 'token must be absent');
  const found = await findRequest(parts, body.ticket ?? koa.cookies.get(COOKIE) ?? '');
  if (!found) throw invalidToken();
  const answer = await complete(parts, call, found);
  ownCookie(parts, koa, COOKIE, '', 0);
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

async function findRequest(parts: AuthParts, ticket: string): Promise<OpenRequest | null> {
  const { db } = parts.kernel.store;
  const row = await db
    .selectFrom('auth_email_sign_ins')
    .selectAll()
    .where('hash', '=', digest(ticket))
    .where('used_at', 'is', null)
    .where('expires_at', '>', parts.kernel.now())
    .executeTakeFirst();
  if (!row) return null;
  const { hash, code, token, user_id: userId, identifier_hash: identifierHash } = row;
  const account = userId === null ? null : await parts.directory.find(db, userId);
  const same = account && identifierOf(parts, account.email) === identifierHash;
  return { hash, identifierHash, code, token, account: same ? account : null };
}

/**
 * A wrong code ends the request after five, whether its address has an account or not. It counts
 * for the lockout too, so that many requests do not give many guesses.
 */
async function complete(parts: AuthParts, call: Call, request: OpenRequest): Promise<Reply> {
  const { account, token, code, hash, identifierHash } = request;
  if (!(await countAnswer(parts, hash))) throw invalidToken();
  if (call.body.code === undefined) {
    const right = token !== null && sameText(token, digest(call.body.token));
    if (!right || !account) throw invalidToken();
    return enter(parts, call, hash, account);
  }
  const attempt: CodeAttempt = {
    call,
    identifierHash,
    account,
    kind: 'email',
    error: invalidToken,
  };
  return answerUnderLockout(parts, attempt, async () => {
    const given = String(call.body.code).replaceAll(/\s/g, '');
    const right = code !== null && isSealedCode(parts, hash, given, code);
    if (!right || !account) throw new WrongAnswer();
    return enter(parts, call, hash, account);
  });
}

async function countAnswer({ kernel }: AuthParts, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await kernel.store.db
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
async function enter(parts: AuthParts, call: Call, hash: string, account: Account): Promise<Reply> {
  await assertSignInAllowed(parts, call.context, { ...account, emailVerified: true });
  const caller = asUser(callerOf(call.context), account.id);
  const claim = await claimOf(parts, call, account);
  return parts.kernel.store.transaction(async () => {
    const proved = await parts.events.transact(caller, async (trx, emit) => {
      if (!account.emailVerified) await serialiseProofs(parts, trx);
      const { numUpdatedRows } = await trx
        .updateTable('auth_email_sign_ins')
        .set({ used_at: parts.kernel.now() })
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst();
      if (Number(numUpdatedRows) !== 1) throw invalidToken();
      await endEmailSignIns(parts.kernel, trx, identifierOf(parts, account.email));
      await proveAddress(parts, { trx, emit, caller }, account.id, claim);
      return parts.directory.find(trx, account.id);
    });
    const goal = { kind: 'session', status: 200 } as const;
    const entry: Entry = { account: proved!, method: 'email', amr: ['email'], goal };
    return advance(parts, call, forClient(entry, call.body));
  });
}
