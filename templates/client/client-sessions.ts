import type { ServerPaths } from './operation.ts';

/**
 * The functions of the client that keep a session and renew its tokens; nothing without `auth:`.
 */
export function clientSessions({ delivery }: ServerPaths): string {
  if (delivery === null) return '';
  const parts = delivery === 'body' ? BODY : COOKIE;
  return SESSIONS.replace(/@([A-Z]+)@/g, (_, name: keyof Parts) => parts[name]);
}

/** The code that differs between the two ways in which a refresh token is sent. */
type Parts = Readonly<
  Record<
    'STORE' | 'STATE' | 'SAVING' | 'SHOW' | 'EXCHANGE' | 'TOKEN' | 'LISTEN' | 'CREDENTIALS',
    string
  >
>;

const BODY: Parts = {
  STORE: String.raw`  const { storage = page ? 'local' : 'memory' } = options;
  const isShared = page !== undefined && storage !== 'memory';
  const store = typeof storage === 'object' ? storage : storeOf(isShared ? page : undefined, key);
`,
  STATE: String.raw`  let letGo = () => {};

  /** Shows other tabs, by the name of a lock, when this one has changed what is stored. */
  async function show(at: number): Promise<void> {
    letGo();
    if (locks)
      await new Promise<void>((held) => {
        void locks.request(key + ' ' + at, { mode: 'shared' }, () => {
          held();
          return new Promise<void>((resolve) => (letGo = resolve));
        });
      });
  }
`,
  SAVING: String.raw`Stores new tokens, and shows their time to other tabs.`,
  SHOW: String.raw`    await show(at);
`,
  EXCHANGE: String.raw`  async function forget(): Promise<void> {
    changes += 1;
    use(null);
    await store.remove();
    channel?.postMessage('');
    await show(Date.now());
  }

  /**
   * What is stored now. A page can see what another one stored a moment later only, but a lock at
   * once: as long as a lock tells of newer tokens, or of a later sign-out, they are waited for.
   */
  async function latest(): Promise<Kept | null> {
    const held = (await locks?.query())?.held ?? [];
    const times = held.map(({ name = '' }) => (name.startsWith(key + ' ') ? +name.slice(key.length + 1) : 0));
    for (let tries = 0; (await load()) && kept!.at < Math.max(...times) && tries < 50; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return kept;
  }

  /** New tokens, unless there are newer ones than 'stale' already; null without a session. */
  async function exchange(stale: string | undefined): Promise<Session | null> {
    const before = await latest();
    if (!before || before.session.accessToken !== stale) return before?.session ?? null;
    const turn = changes;
    const { refreshToken } = before.session;
    if (!refreshToken) return (await forget(), null);
    const { response, body } = await post('refresh', { refreshToken });
    // The session may have ended, or be another one, since the request was sent.
    const now = await load();
    if (changes !== turn || now?.at !== before.at) return now?.session ?? null;
    if (response.status === 401) return (await forget(), null);
    if (!response.ok || !body) throw failureOf(response, body);
    await save(body as unknown as Session);
    return kept!.session;
  }

`,
  TOKEN: String.raw`    const { session } = kept ?? (await load()) ?? {};
    if (!session || session.exp * 1000 - Date.now() > RENEW_BEFORE) return session?.accessToken;
`,
  LISTEN: String.raw`  if (channel) channel.onmessage = () => void load();
  // The message may be here before what another page has stored: this event comes with it.
  if (isShared) page.addEventListener('storage', (changed) => changed.key === key && void load());
  const first = store.get();
  if (typeof first === 'string') kept = keptIn(first);
`,
  CREDENTIALS: String.raw``,
};

const COOKIE: Parts = {
  STORE: String.raw`  const { storage = 'memory' } = options;
  const store = typeof storage === 'object' ? storage : storeOf(storage === 'local' ? page : undefined, key);
  const isShared = page !== undefined;
`,
  STATE: String.raw`  /** Whether the cookie may hold a session that this page does not know yet. */
  let mayHold = page?.localStorage.getItem(key + ' cookie') != null;
`,
  SAVING: String.raw`Stores a new token, and notes for the next page that there is a cookie.`,
  SHOW: String.raw`    page?.localStorage.setItem(key + ' cookie', 'yes');
`,
  EXCHANGE: String.raw`  async function forget(): Promise<void> {
    changes += 1;
    mayHold = false;
    use(null);
    await store.remove();
    page?.localStorage.removeItem(key + ' cookie');
    channel?.postMessage('out');
  }

  /** A new token, unless there is a newer one than 'stale' already; null without a session. */
  async function exchange(stale: string | undefined): Promise<Session | null> {
    const before = await load();
    if (before ? before.session.accessToken !== stale : !mayHold) return before?.session ?? null;
    const turn = changes;
    const { response, body } = await post('refresh', {});
    // The session may have ended, or be another one, since the request was sent.
    const now = await load();
    if (changes !== turn || now?.at !== before?.at) return now?.session ?? null;
    if (response.status === 401) return (await forget(), null);
    if (!response.ok || !body) throw failureOf(response, body);
    await save(body as unknown as Session);
    return kept!.session;
  }

`,
  TOKEN: String.raw`    const { session } = kept ?? (await load()) ?? {};
    if (!session) return mayHold ? (await renew(undefined))?.accessToken : undefined;
    if (session.exp * 1000 - Date.now() > RENEW_BEFORE) return session.accessToken;
`,
  LISTEN: String.raw`  if (channel)
    channel.onmessage = ({ data }) => {
      if (data !== 'out') return;
      changes += 1;
      mayHold = false;
      use(null);
      void store.remove();
    };
  const first = store.get();
  if (typeof first === 'string') kept = keptIn(first);
`,
  CREDENTIALS: String.raw`  credentials: 'include',
`,
};

const SESSIONS = String.raw`/** A session as it is stored, with the time of its tokens in milliseconds. */
interface Kept {
  readonly at: number;
  readonly session: Session;
}

function createSessions(origin: string, options: ClientOptions, call: Call) {
  const key = 'session ' + origin;
  const page = pageHere();
@STORE@  const locks = isShared ? page.navigator.locks : undefined;
  const channel = isShared ? new BroadcastChannel(key) : undefined;
  let kept: Kept | null = null;
  let step: SignInStep | undefined;
  let renewing: Promise<Session | null> | undefined;
  let changes = 0;
@STATE@
  function use(next: Kept | null): Kept | null {
    const hasEnded = kept !== null && next === null;
    kept = next;
    if (hasEnded) options.onSignOut?.();
    return kept;
  }

  async function load(): Promise<Kept | null> {
    return use(keptIn(await store.get()));
  }

  /** @SAVING@ */
  async function save(session: Session): Promise<void> {
    const at = Date.now();
    changes += 1;
    use({ at, session });
    await store.set(JSON.stringify(kept));
    channel?.postMessage('');
@SHOW@  }

  /** An answer that stops half-way would hold the lock of all tabs, so its time is limited too. */
  const post = (path: string, body: object, bearer?: string) =>
    inTime(options, null, async (signal) => {
      const response = await call('/api/auth/' + path, { ...jsonBody(body), signal }, bearer);
      return { response, body: jsonOf(await bodyOf(response)) };
    });

@EXCHANGE@  /** One exchange at a time: in this page by a promise, in all tabs by a lock. */
  function renew(stale: string | undefined): Promise<Session | null> {
    renewing ??= Promise.resolve(
      locks ? locks.request(key, () => exchange(stale)) : exchange(stale),
    ).finally(() => (renewing = undefined));
    return renewing;
  }

  async function token(): Promise<string | undefined> {
@TOKEN@    const renewed = await renew(session.accessToken);
    if (!renewed) throw new ApiError('UNAUTHENTICATED', 'The session has ended', { status: 401 });
    return renewed.accessToken;
  }

  async function enter(path: string, body: object): Promise<Session | SignInStep> {
    const { response, body: answer } = await post(path, body);
    if (!response.ok || !answer) throw failureOf(response, answer);
    const { login = answer, ...more } = answer;
    if (!('accessToken' in (login as object))) return (step = answer as unknown as SignInStep);
    step = undefined;
    await save(login as Session);
    return login === answer ? kept!.session : { ...more, ...kept!.session };
  }

  function continueSignIn(body: Readonly<Record<string, unknown>>) {
    const enrolls = step?.next === 'enroll_second_factor';
    const path = enrolls
      ? 'credential' in body
        ? 'passkeys'
        : 'totp/confirm'
      : 'new_password' in body
        ? 'change-password'
        : 'second-factor';
    return enter(path, { ticket: step?.ticket, ...body });
  }

  async function signOut(): Promise<void> {
    const { session } = kept ?? (await load()) ?? {};
    await forget();
    const { accessToken: bearer, refreshToken } = session ?? {};
    // The session is forgotten here, whatever the server says.
    await post('logout', { refreshToken }, bearer).catch(() => {});
  }

@LISTEN@  return {
    current: () => kept?.session ?? null,
    signIn: (body: Readonly<Record<string, unknown>>) => enter('login', body),
    continueSignIn,
    renew,
    signOut,
    token,
  };
}

/** The parts of a browser's page that a session needs. */
interface Page {
  readonly localStorage: Storage;
  readonly navigator: { readonly locks?: LockManager };
  addEventListener(name: 'storage', heard: (changed: { readonly key: string | null }) => void): void;
}

/** Absent outside of a browser, and where it keeps nothing: reading what is blocked throws. */
function pageHere(): Page | undefined {
  try {
    const { window } = globalThis as { window?: Page };
    return window?.localStorage ? window : undefined;
  } catch {
    return undefined;
  }
}

function storeOf(page: Page | undefined, key: string): Store {
  let text: string | null = null;
  const memory = {
    get: () => text,
    set: (next: string) => (text = next),
    remove: () => (text = null),
  };
  if (!page) return memory;
  const { localStorage } = page;
  return {
    get: () => localStorage.getItem(key),
    set: (next) => localStorage.setItem(key, next),
    remove: () => localStorage.removeItem(key),
  };
}

function keptIn(text: string | null | undefined): Kept | null {
  const kept = jsonOf(text ?? '');
  return kept && 'session' in kept ? (kept as unknown as Kept) : null;
}

const jsonBody = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
@CREDENTIALS@});

`;
