import { useEffect, useState } from 'preact/hooks';
import { base } from '../address.ts';
import { t } from '../messages.ts';
import { type Module, modulesOf, type OpenApi } from '../rest-modules.ts';
import type { Description } from '../description.ts';
import { can } from './can.ts';
import { useCall } from './use-call.ts';

/** Where the dialog `Go to` can lead. */
export interface Goal {
  readonly kind: 'Page' | 'Type' | 'User' | 'App';
  readonly name: string;
  readonly path: string;
}

interface FoundRecords {
  readonly users?: readonly { readonly id: string | number; readonly email?: string | null }[];
  readonly apps?: readonly { readonly name: string }[];
}

const MOST = 50;

/** Milliseconds without a key after which the server is asked. */
const PAUSE = 200;

/**
 * Pages, types, users and apps whose name contains the text, the one that is the text first. Types are read when the dialog opens,
 * users and apps when something is typed, each only if the caller may read them.
 */
export function useGoals(known: Description, text: string): { goals: Goal[]; loading: boolean } {
  const has = (id: string) => known.pages.some((page) => page.id === id);
  const asked = usePause(text.trim());
  const search = asked === '' ? null : new URLSearchParams({ q: asked, limit: '10' });
  const types = useCall<OpenApi>(has('data') ? '/api/openapi.json' : null);
  const users = useCall<FoundRecords>(
    search && has('users') && can('auth:read') ? `/api/auth/admin/users?${search}` : null,
  );
  const apps = useCall<FoundRecords>(
    search && has('apps') && can('apps:read') ? `/api/apps?${search}` : null,
  );
  const all = [...pageGoals(known), ...typeGoals(types.data), ...foundGoals(users.data, apps.data)];
  const wanted = text.trim().toLowerCase();
  const found = all.filter((goal) => goal.kind === 'User' || distance(wanted, goal) < FAR);
  return {
    goals: found.toSorted((a, b) => distance(wanted, a) - distance(wanted, b)).slice(0, MOST),
    loading: asked !== text.trim() || types.loading || users.loading || apps.loading,
  };
}

const FAR = 3;

/** How far a name is from a text: 0 is the text itself, `FAR` does not contain it. */
export function distance(wanted: string, { name }: Pick<Goal, 'name'>): number {
  const at = name.toLowerCase().indexOf(wanted);
  if (at < 0) return FAR;
  return at > 0 ? 2 : Number(name.length > wanted.length);
}

const pageGoals = ({ pages }: Description): Goal[] =>
  pages.map(({ title, path }) => ({ kind: 'Page', name: t(title), path }));

/** The types that the API lists, then those that only an administrator reads. */
function typeGoals(document: OpenApi | undefined): Goal[] {
  if (!document) return [];
  const own = modulesOf(document);
  const others = can('data:read') ? modulesOf(document, true) : [];
  const onlyThere = others.filter(({ plural }) => own.every((each) => each.plural !== plural));
  return [
    ...own.map((module) => typeGoal(module, '')),
    ...onlyThere.map((module) => typeGoal(module, '?as=admin')),
  ];
}

const typeGoal = ({ type, plural }: Module, query: string): Goal => ({
  kind: 'Type',
  name: type,
  path: `${base}/data/${plural}${query}`,
});

/**
 * The server also searches fields of users that are not shown here, so its results are not filtered
 * again.
 */
function foundGoals(users: FoundRecords | undefined, apps: FoundRecords | undefined): Goal[] {
  const found = (users?.users ?? []).map(({ id, email }): Goal => ({
    kind: 'User',
    name: email ?? String(id),
    path: `${base}/users/${encodeURIComponent(id)}`,
  }));
  const running = (apps?.apps ?? []).map(({ name }): Goal => ({
    kind: 'App',
    name,
    path: `${base}/apps/${encodeURIComponent(name)}`,
  }));
  return [...found, ...running];
}

function usePause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setSettled, PAUSE, text);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
