import { effect, signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
const DENSITIES = ['comfortable', 'compact'] as const;

/** The theme: light, dark, or that of the system. It is stored in this browser. */
export const theme = signal(stored('theme', THEMES));

/** How much space is around texts and controls. */
export const density = signal(stored('density', DENSITIES));

export function switchTheme(): void {
  theme.value = after(theme.value, THEMES);
}

export function switchDensity(): void {
  density.value = after(density.value, DENSITIES);
}

const after = <Value>(value: Value, all: readonly Value[]): Value =>
  all[(all.indexOf(value) + 1) % all.length] ?? value;

effect(() => keep('theme', theme.value));
effect(() => keep('density', density.value));

function keep(name: string, value: string): void {
  document.documentElement.dataset[name] = value;
  localStorage.setItem(`console-${name}`, value);
}

function stored<Value extends string>(name: string, all: readonly [Value, ...Value[]]): Value {
  const text = localStorage.getItem(`console-${name}`);
  return all.find((value) => value === text) ?? all[0];
}
