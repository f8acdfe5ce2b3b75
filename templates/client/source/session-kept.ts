import { jsonOf } from './answers.ts';

/** The login object: the user, and the tokens of the session. */
export interface Session {
  readonly id: string | number;
  readonly email: string;
  readonly accessToken: string;
  /** Unix time in seconds. */
  readonly exp: number;
  readonly refreshToken?: string;
  readonly [key: string]: unknown;
}

/** What is left to do before a sign-in is done; 'continueSignIn' answers it. */
export interface SignInStep {
  readonly next: 'second_factor' | 'enroll_second_factor' | 'change_password' | 'email_code';
  readonly ticket: string;
  readonly methods?: ReadonlyArray<'totp' | 'passkey' | 'recovery_code'>;
  readonly expires_in: number;
}

/** A place for a text of this client. */
export interface Store {
  get(): string | null | undefined | Promise<string | null | undefined>;
  set(text: string): unknown;
  remove(): unknown;
}

/** A session as it is stored, with the time of its tokens in milliseconds. */
export interface Kept {
  readonly at: number;
  readonly session: Session;
}

/** How a session is carried between the server and the tabs of a browser. */
export interface Carrier {
  /** What each request of sign-in has beside its body. */
  readonly init: RequestInit;
  /** Whether there may be a session that this page does not know yet. */
  readonly mayHold: boolean;
  /** What asks the server for new tokens; undefined if nothing can. */
  proof(session: Session | undefined): object | undefined;
  /** What is stored now, by whichever tab. */
  latest(load: () => Promise<Kept | null>): Promise<Kept | null>;
  /** Tokens of this time were stored; undefined: the session has ended. */
  stored(at?: number): unknown;
}

/** The parts of a browser's page that a session needs. */
export interface Page {
  readonly localStorage: Storage;
  readonly navigator: { readonly locks?: LockManager };
  addEventListener(
    name: 'storage',
    heard: (changed: { readonly key: string | null }) => void,
  ): void;
}

/** Absent outside of a browser, and where it keeps nothing: reading what is blocked throws. */
export function pageHere(): Page | undefined {
  try {
    const { window } = globalThis as { window?: Page };
    return window?.localStorage ? window : undefined;
  } catch {
    return undefined;
  }
}

export function storeOf(page: Page | undefined, key: string): Store {
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

export function keptIn(text: string | null | undefined): Kept | null {
  const kept = jsonOf(text ?? '');
  return kept && 'session' in kept ? (kept as unknown as Kept) : null;
}
