import { signal } from '@preact/signals';
import { useEffect, useId, useState } from 'preact/hooks';
import { navigate, base } from '../address.ts';
import { t } from '../messages.ts';
import type { Description } from '../description.ts';
import { Button } from './button.tsx';
import { SearchIcon } from './icons.tsx';
import { useModal, leave } from './dialog.tsx';
import { type Module, modulesOf, type OpenApi } from '../rest-modules.ts';
import { can } from './can.ts';
import { useCall } from './use-call.ts';

/** Whether the dialog `Go to` is open. */
export const goToShown = signal(false);

/** Opens the dialog `Go to`, as Ctrl+K does. */
export function GoToButton() {
  return (
    <Button
      class="go-to-button"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K"
      onClick={() => (goToShown.value = true)}
    >
      <SearchIcon />
      <span>{t('Go to')}</span>
      <kbd aria-hidden="true">Ctrl K</kbd>
    </Button>
  );
}

/** The dialog `Go to`: pages, types, users and apps by their names. The frame has it once. */
export function GoTo({ known }: { known: Description }) {
  return goToShown.value ? <GoToDialog known={known} /> : null;
}

function GoToDialog({ known }: { known: Description }) {
  const dialog = useModal();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [entered, setEntered] = useState(false);
  const { goals, loading } = useGoals(known, text);
  const close = () => (goToShown.value = false);
  const go = (goal: Goal | undefined) => goal && (close(), navigate(goal.path));
  // A result that is still on its way can be the exact one.
  const waits = loading && !(goals[at] && distance(text.trim().toLowerCase(), goals[at]) === 0);
  const enter = () => (waits ? setEntered(true) : go(goals[at]));
  useEffect(() => {
    if (entered && !loading) go(goals[at]);
  }, [entered, loading]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((at + step + goals.length) % Math.max(goals.length, 1));
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={t('Go to')}
      onCancel={(event) => leave(event, close)}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="palette-box" onKeyDown={onKeyDown}>
        <div class="palette-search">
          <SearchIcon />
          <input
            role="combobox"
            aria-label={t('Go to')}
            aria-expanded={goals.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={goals[at] ? `${id}-${at}` : undefined}
            autocomplete="off"
            spellcheck={false}
            placeholder={t('A page, a type, a user or an app')}
            value={text}
            onInput={(event) => (setText(event.currentTarget.value), setAt(0), setEntered(false))}
          />
        </div>
        <Goals {...{ id, goals, at, loading, go }} />
        {goals.length === 0 && (
          <p class="quiet palette-none" role="status">
            {loading ? t('Searching') : t('Nothing found')}
          </p>
        )}
      </div>
    </dialog>
  );
}

interface GoalsProps {
  readonly id: string;
  readonly goals: readonly Goal[];
  /** The one that Enter opens. */
  readonly at: number;
  readonly loading: boolean;
  go(goal: Goal): void;
}

function Goals({ id, goals, at, loading, go }: GoalsProps) {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <ul id={`${id}-list`} role="listbox" aria-label={t('Go to')} aria-busy={loading}>
      {goals.map((goal, index) => (
        <li
          key={`${goal.kind} ${goal.path}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onClick={() => go(goal)}
        >
          <span>{goal.name}</span>
          <span class="quiet">{t(goal.kind)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Where the dialog `Go to` can lead. */
interface Goal {
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
function useGoals(known: Description, text: string): { goals: Goal[]; loading: boolean } {
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
function distance(wanted: string, { name }: Pick<Goal, 'name'>): number {
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
