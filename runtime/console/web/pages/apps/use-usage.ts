import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { type App, type Stats, routeOf } from './types.ts';

/** Milliseconds between two rounds, and how many apps are asked about at once. */
const EVERY = 4000;
const AT_ONCE = 4;

/**
 * What each running app uses, by its name. It is read repeatedly while the browser's tab is
 * visible.
 */
export function useUsage(apps: readonly App[] | undefined): ReadonlyMap<string, Stats> {
  const [usage, setUsage] = useState<ReadonlyMap<string, Stats>>(new Map());
  const names = useRef<readonly string[]>([]);
  names.current = (apps ?? []).flatMap(({ name, status }) => (status === 'running' ? [name] : []));
  const known = apps !== undefined;
  useEffect(() => {
    if (!known) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout>;
    const round = async () => {
      if (!document.hidden) setUsage(await readAll(names.current, signal));
      if (!signal.aborted) timer = setTimeout(() => void round(), EVERY);
    };
    void round();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [known]);
  return usage;
}

async function readAll(names: readonly string[], signal: AbortSignal) {
  const found = new Map<string, Stats>();
  const rest = names.values();
  const reader = async () => {
    for (const name of rest) {
      const stats = await call<Stats>('GET', `${routeOf(name)}/stats`, undefined, { signal }).catch(
        () => null,
      );
      if (stats) found.set(name, stats);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reader));
  return found;
}
