import { effect, signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark';

const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;
const KEY = 'console-theme';

/** What the user chose in this browser. */
export const theme = signal<Theme>(stored());

export function turnTheme(): void {
  theme.value = NEXT[theme.value];
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(KEY, theme.value);
});

function stored(): Theme {
  const text = localStorage.getItem(KEY);
  return text === 'light' || text === 'dark' ? text : 'system';
}
