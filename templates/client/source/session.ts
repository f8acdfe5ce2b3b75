import { ApiError, bodyOf, failureOf, jsonOf } from './answers.ts';
import { type Call, type CallSettings, inTime } from './calls.ts';
import { createCarrier, IS_IN_STORE, STORAGE } from './session-in-body.ts';
import {
  type Carrier,
  type Kept,
  keptIn,
  pageHere,
  type Session,
  type SignInStep,
  type Store,
  storeOf,
} from './session-kept.ts';

/** The login is renewed when its token has less than this left, in milliseconds. */
const RENEW_BEFORE = 10_000;

/** What 'createClient' takes for sessions. */
export interface SessionOptions {
  /** Where the session is kept. */
  readonly storage?: 'local' | 'memory' | Store | undefined;
  /** The session has ended, here or in another tab. */
  readonly onSignOut?: (() => void) | undefined;
}

/** The members of a client that sign in and out. */
export interface SessionMembers {
  signIn(body: Readonly<Record<string, unknown>>): Promise<Session | SignInStep>;
  /** Answers the step that 'signIn' left: '{ code }', '{ recovery_code }', '{ new_password }' … */
  continueSignIn(body: Readonly<Record<string, unknown>>): Promise<Session | SignInStep>;
  /** Ends the session on the server, and forgets it in every tab. */
  signOut(): Promise<void>;
  /** The login object; null if nobody is signed in. */
  readonly session: Session | null;
}

type Login = Readonly<Record<string, unknown>>;

/** Keeps a session, and sends requests with its token. */
export function createSession(
  origin: string,
  options: CallSettings & SessionOptions,
  call: Call,
): { readonly send: Call; readonly members: SessionMembers } {
  const keeper = createKeeper('session ' + origin, options);

  /** An answer that stops half-way would hold the lock of all tabs, so its time is limited too. */
  const post: Post = (path, body, bearer) =>
    inTime(options, null, async (signal) => {
      const init = { ...jsonBody(body), ...keeper.carrier.init, signal };
      const response = await call('/api/auth/' + path, init, bearer);
      return { response, body: jsonOf(await bodyOf(response)) };
    });
  const renew = createRenewal(keeper, post);

  async function token(): Promise<string | undefined> {
    const { session } = keeper.kept ?? (await keeper.load()) ?? {};
    if (!session) return keeper.mayHold ? (await renew(undefined))?.accessToken : undefined;
    if (session.exp * 1000 - Date.now() > RENEW_BEFORE) return session.accessToken;
    const renewed = await renew(session.accessToken);
    if (!renewed) throw new ApiError('UNAUTHENTICATED', 'The session has ended', { status: 401 });
    return renewed.accessToken;
  }

  /** Sends a request with the token, and once more with a new token if the answer is a 401. */
  async function send(url: URL | string, init: RequestInit): Promise<Response> {
    const bearer = await token();
    const response = await call(url, init, bearer);
    if (response.status !== 401 || init.body instanceof ReadableStream) return response;
    const session = await renew(bearer);
    if (!session) return response;
    await response.body?.cancel();
    return call(url, init, session.accessToken);
  }

  return { send, members: membersOf(keeper, post) };
}

type Post = (
  path: string,
  body: object,
  bearer?: string,
) => Promise<{ readonly response: Response; readonly body: Login | null }>;

function membersOf(keeper: Keeper, post: Post): SessionMembers {
  let step: SignInStep | undefined;

  async function enter(path: string, body: object): Promise<Session | SignInStep> {
    const { response, body: answer } = await post(path, body);
    if (!response.ok || !answer) throw failureOf(response, answer);
    const { login = answer, ...more } = answer;
    if (!('accessToken' in (login as object))) return (step = answer as unknown as SignInStep);
    step = undefined;
    const session = login as Session;
    await keeper.save(session);
    return login === answer ? session : { ...more, ...session };
  }

  return {
    signIn: (body) => enter('login', body),
    continueSignIn(body) {
      const enrolls = step?.next === 'enroll_second_factor';
      const path = enrolls
        ? 'credential' in body
          ? 'passkeys'
          : 'totp/confirm'
        : 'new_password' in body
          ? 'change-password'
          : 'second-factor';
      return enter(path, { ticket: step?.ticket, ...body });
    },
    async signOut() {
      const { session } = keeper.kept ?? (await keeper.load()) ?? {};
      await keeper.forget();
      const { accessToken: bearer, refreshToken } = session ?? {};
      // The session is forgotten here, whatever the server says.
      await post('logout', { refreshToken }, bearer).catch(() => {});
    },
    get session() {
      return keeper.kept?.session ?? null;
    },
  };
}

/** Gets new tokens for those that are stale; null without a session. */
type Renew = (stale: string | undefined) => Promise<Session | null>;

/** One exchange at a time: in this page by a promise, in all tabs by a lock. */
function createRenewal(keeper: Keeper, post: Post): Renew {
  let renewing: Promise<Session | null> | undefined;

  async function exchange(stale: string | undefined): Promise<Session | null> {
    const before = await keeper.carrier.latest(keeper.load);
    const isNewer = before ? before.session.accessToken !== stale : !keeper.mayHold;
    if (isNewer) return before?.session ?? null;
    const turn = keeper.changes;
    const proof = keeper.carrier.proof(before?.session);
    if (!proof) return (await keeper.forget(), null);
    const { response, body } = await post('refresh', proof);
    // The session may have ended, or be another one, since the request was sent.
    const now = await keeper.load();
    if (keeper.changes !== turn || now?.at !== before?.at) return now?.session ?? null;
    if (response.status === 401) return (await keeper.forget(), null);
    if (!response.ok || !body) throw failureOf(response, body);
    await keeper.save(body as unknown as Session);
    return keeper.kept?.session ?? null;
  }

  return (stale) => {
    const { key, locks } = keeper;
    renewing ??= Promise.resolve(
      locks ? locks.request(key, () => exchange(stale)) : exchange(stale),
    ).finally(() => (renewing = undefined));
    return renewing;
  };
}

/** What this page knows of the session. Other tabs hear of each change, and tell of theirs. */
interface Keeper {
  readonly key: string;
  readonly carrier: Carrier;
  readonly locks: LockManager | undefined;
  readonly kept: Kept | null;
  readonly mayHold: boolean;
  /** Counts what was stored and forgotten here. */
  readonly changes: number;
  load(): Promise<Kept | null>;
  save(session: Session): Promise<void>;
  forget(): Promise<void>;
}

function createKeeper(key: string, { storage = STORAGE, onSignOut }: SessionOptions): Keeper {
  const page = pageHere();
  const shared = storage === 'memory' && IS_IN_STORE ? undefined : page;
  const store =
    typeof storage === 'object' ? storage : storeOf(storage === 'local' ? page : undefined, key);
  const channel = shared && new BroadcastChannel(key);
  const carrier = createCarrier(key, shared);
  const first = store.get();

  function use(next: Kept | null): Kept | null {
    const hasEnded = keeper.kept !== null && next === null;
    keeper.kept = next;
    if (hasEnded) onSignOut?.();
    return keeper.kept;
  }

  function drop(): unknown {
    keeper.changes += 1;
    keeper.mayHold = false;
    use(null);
    return store.remove();
  }

  const keeper = {
    key,
    carrier,
    locks: shared?.navigator.locks,
    kept: typeof first === 'string' ? keptIn(first) : null,
    mayHold: carrier.mayHold,
    changes: 0,
    load: async () => use(keptIn(await store.get())),
    async save(session: Session) {
      const at = Date.now();
      keeper.changes += 1;
      use({ at, session });
      await store.set(JSON.stringify(keeper.kept));
      channel?.postMessage('');
      await carrier.stored(at);
    },
    async forget() {
      await drop();
      channel?.postMessage('out');
      await carrier.stored();
    },
  };
  channel?.addEventListener('message', ({ data }) => {
    if (IS_IN_STORE) void keeper.load();
    else if (data === 'out') void drop();
  });
  // The message may be here before what another page has stored: this event comes with it.
  shared?.addEventListener('storage', (changed) => changed.key === key && void keeper.load());
  return keeper;
}

const jsonBody = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
