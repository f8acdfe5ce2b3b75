import { signal } from '@preact/signals';

/** The answer of `GET /api/console`. */
export interface Description {
  readonly name: string;
  readonly version: string;
  readonly environment: 'development' | 'production';
  readonly path: string;
  /** Where GraphQL answers. */
  readonly graphql: string;
  readonly sign_in: { readonly host: boolean; readonly users: boolean };
  readonly caller: {
    readonly kind: 'host' | 'user';
    readonly id: string | null;
    readonly name: string | null;
    readonly email: string | null;
    readonly role: string | null;
    readonly permissions: readonly string[];
  } | null;
  readonly pages: readonly { readonly id: string; readonly title: string; readonly path: string }[];
}

const CLIENT = { client: 'console', delivery: 'cookie' } as const;

/** Only here: a script of another page that reads the storage of this origin finds no credential. */
let token: string | null = null;

/** Whether somebody signed in with this browser: without a cookie there is nothing to refresh. */
const SIGNED_IN = 'console-signed-in';

/** Takes the access token of an answer; null forgets who is signed in. */
export function keep(next: string | null): void {
  token = next;
  if (next === null) localStorage.removeItem(SIGNED_IN);
  else localStorage.setItem(SIGNED_IN, 'yes');
}

export const accessToken = (): string | null => token;

/** What the server has, and who is signed in; null before its first answer. */
export const description = signal<Description | null>(null);

/** Why nothing could be read at the start. */
export const startFailure = signal<string | null>(null);

/** Goes on with the session of the cookie, or signs in with the code of a link. */
export async function resume(code: string | null): Promise<string | null> {
  const refused = code === null ? null : await signIn({ code });
  if (token === null && localStorage.getItem(SIGNED_IN) !== null) await refresh();
  await describe();
  return refused;
}

/** @returns why the server refused, or null. */
export async function signIn(
  credentials: Readonly<Record<string, string>>,
): Promise<string | null> {
  const response = await post('/api/auth/login', { ...credentials, ...CLIENT });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) return (answer as { error?: string }).error ?? `HTTP ${response.status}`;
  keep((answer as { accessToken?: string }).accessToken ?? null);
  return null;
}

let renewal: Promise<boolean> | null = null;

/**
 * Asks for a new access token, once at a time, also between tabs: each answer replaces the token in
 * the cookie that they share.
 */
export function refresh(): Promise<boolean> {
  renewal ??= navigator.locks
    .request('console-refresh', renew)
    .finally(() => (renewal = null)) as Promise<boolean>;
  return renewal;
}

async function renew(): Promise<boolean> {
  const response = await post('/api/auth/refresh', CLIENT).catch(() => null);
  // A server that is gone for a moment ends no session.
  if (response === null) return false;
  keep(response.ok ? ((await response.json()) as { accessToken: string }).accessToken : null);
  return response.ok;
}

export async function signOut(): Promise<void> {
  await post('/api/auth/logout', CLIENT).catch(() => null);
  keep(null);
  await describe();
}

/** Reads what the caller may see. */
export async function describe(): Promise<void> {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch('/api/console', { credentials: 'omit', headers }).catch(() => null);
  if (response?.ok) {
    description.value = (await response.json()) as Description;
    startFailure.value = null;
  } else startFailure.value = response ? `HTTP ${response.status}` : 'The server does not answer';
}

/** Sends what opens or renews a session: the only requests that the cookie goes with. */
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
