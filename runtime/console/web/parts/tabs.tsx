import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { navigate, query } from '../address.ts';
import { Button } from './button.tsx';

export interface Tab {
  /** The name of the tab in the address. */
  readonly id: string;
  readonly title: string;
  render(): ComponentChildren;
}

interface TabsProps {
  /** The name of the list of tabs. */
  readonly label: string;
  /** The tabs. The first one is shown when the address names none. */
  readonly tabs: readonly Tab[];
  /** The parameter of the address: `tab` when it is left out. */
  readonly parameter?: string;
  /**
   * Parameters that stay when another tab is opened. All others (search, sort, page) belong to one
   * tab.
   */
  readonly keep?: readonly string[];
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Tabs of a page, one of which is visible. The address contains it: `?tab=roles`.
 *
 * @example
 * <Tabs label={t('Users')} tabs={[{ id: 'users', title: t('Users'), render: () => <UserList /> }]} />
 */
export function Tabs({ label, tabs, parameter = 'tab', keep = [] }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const asked = query.value.get(parameter);
  const shown = tabs.find((tab) => tab.id === asked) ?? tabs[0];
  // In a narrow window the list of tabs scrolls, and the chosen one may be outside.
  useEffect(() => {
    const chosen = list.current?.querySelector('[aria-selected="true"]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [shown?.id]);
  if (!shown) return null;
  const open = (tab: Tab) => {
    if (tab !== shown) navigate(addressOf(tab === tabs[0] ? null : tab.id, parameter, keep));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = nextTab(event.key, tabs.indexOf(shown), tabs.length);
    const next = to === null ? undefined : tabs[to];
    if (!next) return;
    event.preventDefault();
    open(next);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <Button
            key={tab.id}
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === shown}
            aria-controls={tab === shown ? `${id}-panel` : undefined}
            tabIndex={tab === shown ? 0 : -1}
            onClick={() => open(tab)}
          >
            {tab.title}
          </Button>
        ))}
      </div>
      <div
        key={shown.id}
        class="tab-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${shown.id}`}
        tabIndex={0}
      >
        {shown.render()}
      </div>
    </>
  );
}

function nextTab(key: string, at: number, count: number): number | null {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = STEPS[key];
  return step === undefined ? null : (at + step + count) % count;
}

function addressOf(tab: string | null, parameter: string, keep: readonly string[]): string {
  const url = new URL(location.href);
  const kept = new Set(['locale', ...keep]);
  for (const name of [...url.searchParams.keys()])
    if (!kept.has(name)) url.searchParams.delete(name);
  if (tab !== null) url.searchParams.set(parameter, tab);
  return url.href;
}
