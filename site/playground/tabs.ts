import { type FunctionalComponent, h, type VNode } from 'vue';

/** A tab: its key, its text, and a figure behind it. */
export interface Tab {
  readonly key: string;
  readonly text: string;
  readonly figure?: number;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  /** The id of the panel that shows the selected tab. */
  readonly panel: string;
  readonly select: (key: string) => void;
}

/** Tabs as the ARIA practices describe them: arrow keys, Home and End select, and Tab leaves. */
export const Tabs: FunctionalComponent<TabsProps> = (props) =>
  h(
    'div',
    { class: 'play-tabs', role: 'tablist', 'aria-label': props.label },
    props.tabs.map((tab) => tabOf(tab, props)),
  );
Tabs.props = ['label', 'tabs', 'selected', 'panel', 'select'];

function tabOf({ key, text, figure }: Tab, { selected, panel, tabs, select }: TabsProps): VNode {
  const isSelected = key === selected;
  return h(
    'button',
    {
      type: 'button',
      role: 'tab',
      id: `${panel}-${key}`,
      'aria-selected': isSelected,
      'aria-controls': panel,
      tabindex: isSelected ? 0 : -1,
      onClick: () => select(key),
      onKeydown: (event: KeyboardEvent) => move(event, tabs, key, select),
    },
    [text, figure === undefined ? null : h('span', { class: 'play-figure' }, String(figure))],
  );
}

function move(
  event: KeyboardEvent,
  tabs: readonly Tab[],
  key: string,
  select: (key: string) => void,
): void {
  const at = tabs.findIndex((tab) => tab.key === key);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  const next = to === undefined ? undefined : tabs.at(to % tabs.length);
  if (!next) return;
  event.preventDefault();
  select(next.key);
  const list = (event.currentTarget as HTMLElement).parentElement!;
  list.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(next)]?.focus();
}
