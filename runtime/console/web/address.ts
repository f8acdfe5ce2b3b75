import { computed, signal } from '@preact/signals';

/** The path of the console on this server, without a slash at its end. */
export const base =
  document.querySelector<HTMLMetaElement>('meta[name="console-path"]')?.content ?? '/console';

const current = signal(new URL(location.href));

/** The path of GraphQL on this server. */
export const graphqlPath =
  document.querySelector<HTMLMetaElement>('meta[name="graphql-path"]')?.content ?? '/graphql';

/** The path below the console: `/data/posts`. */
export const path = computed(() => current.value.pathname.slice(base.length) || '/');

/** The first word of the path, which names the page: `data`. */
export const page = computed(() => path.value.split('/')[1] ?? '');

/**
 * The query parameters of the address. They decide what the page shows, so that a copied link shows
 * the same.
 */
export const query = computed(() => current.value.searchParams);

/**
 * A path of the API with those parameters of the address that have a value, after `more`.
 *
 * @example askedPath('/api/system/jobs', ['name', 'cursor'], { state: 'waiting' })
 */
export function askedPath(
  path: string,
  names: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const sent = new URLSearchParams(more);
  for (const name of names) {
    const value = query.value.get(name);
    if (value) sent.set(name, value);
  }
  return sent.size > 0 ? `${path}?${sent}` : path;
}

/**
 * Goes to a path of the server. With `replace` the back button of the browser does not return here.
 */
export function navigate(to: string, { replace = false } = {}): void {
  const go = () => {
    history[replace ? 'replaceState' : 'pushState'](null, '', to);
    current.value = new URL(location.href);
  };
  const url = new URL(to, location.href);
  if (guard && url.pathname !== location.pathname) void guard(url).then((may) => may && go());
  else go();
}

/** Whether the page may be left for another path: what would be lost is asked about first. */
export const mayLeave = async (to: string): Promise<boolean> =>
  guard === null || guard(new URL(to, location.href));

/** Asked before another path is shown. */
type Guard = (to: URL) => Promise<boolean>;

let guard: Guard | null = null;

/**
 * Sets a function that is asked before another path is shown.
 *
 * @returns what stops the asking
 * @example useEffect(() => guardLeaving(async () => !changed || confirm({ text, action })), []);
 */
export function guardLeaving(ask: Guard): () => void {
  guard = ask;
  return () => {
    if (guard === ask) guard = null;
  };
}

/** Changes parameters of the address; null takes one away. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  { replace = false } = {},
): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  navigate(url.href, { replace });
}

addEventListener('popstate', () => void onHistory());

/** The browser has left the page already, so it goes back until the guard has answered. */
async function onHistory(): Promise<void> {
  const to = new URL(location.href);
  const here = current.value;
  if (guard && to.pathname !== here.pathname) {
    history.pushState(null, '', here);
    if (!(await guard(to))) return;
    history.replaceState(null, '', to);
  }
  current.value = new URL(location.href);
}

/** Follows links of the console without loading the document again. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest('a');
  const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (!link || event.button !== 0 || modified || link.target || link.hasAttribute('download'))
    return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || !isOurs(to.pathname)) return;
  event.preventDefault();
  navigate(to.href);
}

/** Whether a path belongs to the console. */
export const isOurs = (pathname: string) => pathname === base || pathname.startsWith(`${base}/`);

/** A word of the path. Anybody can write a link whose escapes are none. */
export function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
