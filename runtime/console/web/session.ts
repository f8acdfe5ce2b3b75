import { signal } from '@preact/signals';
import { type Description, description } from './description.ts';
import { t } from './messages.ts';
import { lost } from './parts/connection.ts';
import { readRefusal, refusalText } from './parts/refusal-text.ts';

const CLIENT = { client: 'console', delivery: 'cookie' } as const;

/**
 * The token is only here, so that a script which reads the storage of this origin finds no
 * credential.
 */
let token: string | null = null;
/** When the token ends, in milliseconds. */
let tokenEnds = Infinity;

/**
 * The key in `localStorage` that is set while this browser has a session. Without it there is no
 * cookie to refresh.
 */
const SIGNED_IN = 'console-signed-in';

/** A token that ends so soon is renewed before it is used, so that no request is refused for it. */
const SOON = 20_000;

function keep(next: LoginObject | null): void {
  token = next?.accessToken ?? null;
  tokenEnds = next?.exp === undefined ? Infinity : next.exp * 1000;
  if (token === null) localStorage.removeItem(SIGNED_IN);
  else localStorage.setItem(SIGNED_IN, 'yes');
}

interface LoginObject {
  /** The user; the operator has none. */
  readonly id?: string | number;
  readonly accessToken: string;
  /** Seconds since 1970. */
  readonly exp?: number;
}

export const accessToken = (): string | null => token;

/** Takes the token of a response that continues the session under a new token. */
export function adopt(login: LoginObject): void {
  keep(login);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  tabs.postMessage(login);
}

/** The error of the first call, if it failed. */
export const startFailure = signal<string | null>(null);

/**
 * Whether the session of the page that is open has ended. The dialog `Sign in again` is shown then.
 */
export const sessionOver = signal(false);

/** Goes on with the session of the cookie, unless the user has just signed in. */
export async function resume(): Promise<void> {
  if (token === null && localStorage.getItem(SIGNED_IN) !== null) await refresh();
  await describe();
}

/** The step that is left before a sign-in is complete. */
export interface SignInStep {
  readonly next:
    | 'second_factor'
    | 'enroll_second_factor'
    | 'change_password'
    | 'email_code'
    | 'mailed';
  readonly ticket: string;
  readonly methods?: readonly string[];
}

/**
 * A sign-in that is complete, needs another step, or was refused. `answer` is the server's
 * response.
 */
export type SignInAnswer =
  | { readonly done: true; readonly answer: any }
  | { readonly step: SignInStep }
  | {
      /** The text to show. */
      readonly refused: string;
      /** The server's error; null when there was no answer. */
      readonly error: string | null;
    };

/** Sends one step of a sign-in. A session that is made or continued belongs to the console. */
export async function signIn(path: string, body: object): Promise<SignInAnswer> {
  const response = await post(path, BOUND.has(path) ? { ...body, ...CLIENT } : body).catch(
    () => null,
  );
  if (response === null) return { refused: t('The server does not answer'), error: null };
  const answer = await response.json().catch(() => ({}));
  if (response.status === 202) return { step: answer };
  if (!response.ok) {
    const refusal = readRefusal(response, answer);
    return { refused: refusalText(refusal), error: refusal.text };
  }
  const login = answer.login ?? answer;
  if (login.accessToken) adopt(login);
  return { done: true, answer };
}

/** Routes whose body names the application that a session is for. A ticket of theirs knows it. */
const BOUND = new Set([
  '/api/auth/login',
  '/api/auth/second-factor',
  '/api/auth/passkeys/login',
  '/api/auth/email-sign-in/complete',
  '/api/oauth/exchange',
]);

/**
 * The result of a refresh: there is a new token, the session has ended, or the server did not
 * answer (`gone`).
 */
type Renewed = 'renewed' | 'ended' | 'gone';

let renewal: Promise<Renewed> | null = null;

/** Sends new tokens to the other tabs of this browser. Tokens are kept in memory only. */
const tabs = new BroadcastChannel('console-session');
tabs.addEventListener('message', ({ data }: MessageEvent<LoginObject>) => {
  if (!isCaller(data)) return;
  keep(data);
  if (sessionOver.value) void goOn();
});

/** Whether a token is for the user of this page. Another user can sign in in another tab. */
function isCaller({ id }: LoginObject): boolean {
  const caller = description.value?.caller;
  if (!caller) return false;
  return caller.kind === 'host' ? id === undefined : caller.id === String(id);
}

/** Asks for a new access token. Calls at the same time share one request. */
function renewOnce(): Promise<Renewed> {
  renewal ??= renew(token).finally(() => (renewal = null));
  return renewal;
}

/** Asks for a new access token. @returns whether there is one */
const refresh = async (): Promise<boolean> => (await renewOnce()) === 'renewed';

/** Milliseconds in which a token of another tab arrives after that tab let go of the lock. */
const ON_ITS_WAY = 60;

/**
 * Only one tab refreshes at a time, because each response replaces the token in the cookie that all
 * tabs share. The other tabs wait and then get the new token from the first.
 */
async function renew(old: string | null): Promise<Renewed> {
  const answer = await navigator.locks.request(
    'console-refresh',
    { ifAvailable: true },
    (lock) => lock && post('/api/auth/refresh', CLIENT).then(take, gone),
  );
  if (answer) return answer;
  await navigator.locks.request('console-refresh', () => null);
  await new Promise((done) => setTimeout(done, ON_ITS_WAY));
  return token !== old && token !== null ? 'renewed' : renew(old);
}

/** A server that cannot be reached, is starting, or asks to wait does not end the session. */
const gone = (): Renewed => 'gone';

async function take(response: Response): Promise<Renewed> {
  if (response.status === 429 || response.status >= 500) return 'gone';
  if (!response.ok) {
    keep(null);
    return 'ended';
  }
  const login = (await response.json()) as LoginObject;
  // The cookie belongs to another user now, so the page is loaded again for that user.
  if (description.value?.caller && !isCaller(login)) location.reload();
  adopt(login);
  return 'renewed';
}

/** The token to send. A token that is about to expire is renewed first. */
export async function freshToken(): Promise<string | null> {
  if (token !== null && tokenEnds - Date.now() < SOON) await renewOnce();
  return token;
}

/** The requests that wait for the dialog `Sign in again`. */
let waiting: ((again: boolean) => void)[] = [];

/**
 * Called when the server no longer accepts the token.
 *
 * @returns whether the request may be sent again: after a refresh, or after the same user has signed
 *   in again
 */
export async function renewOrAsk(): Promise<boolean> {
  const renewed = await renewOnce();
  if (renewed !== 'ended') return renewed === 'renewed';
  if (!description.value?.caller) return false;
  sessionOver.value = true;
  return new Promise((answer) => waiting.push(answer));
}

/** Goes on after `Sign in again`: requests that waited are sent only for the user who made them. */
export async function goOn(): Promise<void> {
  const before = description.value?.caller;
  await describe();
  const now = description.value?.caller;
  const same = now != null && now.kind === before?.kind && now.id === before.id;
  sessionOver.value = false;
  const asked = waiting;
  waiting = [];
  asked.forEach((answer) => answer(same));
}

/**
 * Ends the session.
 *
 * @returns why the server did not end it, or null when it is over
 */
export async function signOut(): Promise<string | null> {
  const response = await post('/api/auth/logout', CLIENT).catch(() => null);
  if (response === null) return t('The server does not answer');
  // Without a session there is none to end.
  if (!response.ok && response.status !== 401)
    return refusalText(readRefusal(response, await response.json().catch(() => null)));
  keep(null);
  await describe();
  sessionOver.value = false;
  return null;
}

/** Reads what the caller may see. */
export async function describe(): Promise<void> {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch('/api/console', { credentials: 'omit', headers }).catch(() => null);
  if (response?.ok) {
    description.value = (await response.json()) as Description;
    startFailure.value = null;
    return;
  }
  if (response === null || response.status >= 500) lost();
  startFailure.value = response ? `HTTP ${response.status}` : 'The server does not answer';
}

/** Sends the requests that open or renew a session. Only these requests send the cookie. */
export const post = (
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
