import { useEffect, useState } from 'preact/hooks';
import { graphqlPath } from '../../address.ts';

/** A query that a user saved in this browser. Variables and headers are not kept. */
export interface SavedQuery {
  readonly name: string;
  readonly text: string;
}

/** An operation that was run, with its variables as they were typed. */
export interface Past {
  readonly text: string;
  readonly variables: string;
}

const MOST_SAVED = 200;
const MOST_PAST = 30;

/** The saved queries of a caller, by name. Each caller has their own. */
export function useSaved(caller: string) {
  const [queries, change] = useList<SavedQuery>(`console-queries:${caller}`, ['name', 'text']);
  const without = (known: readonly SavedQuery[], name: string) =>
    known.filter((each) => each.name !== name);
  return {
    queries,
    /** Saves a query in place of one with the same name. @throws when the browser has no room */
    save: (query: SavedQuery) =>
      change((known) =>
        [...without(known, query.name), query]
          .slice(-MOST_SAVED)
          .sort((a, b) => a.name.localeCompare(b.name)),
      ),
    remove: (name: string) => change((known) => without(known, name)),
  };
}

/** The operations that were run in this browser: the newest first, each once. */
export function useHistory() {
  const [past, change] = useList<Past>(keyOf('history'), ['text', 'variables']);
  return {
    past,
    add: ({ text, variables }: Past) => {
      const isOther = (each: Past) => each.text !== text || each.variables !== variables;
      ifThereIsRoom(() =>
        change((known) => [{ text, variables }, ...known.filter(isOther)].slice(0, MOST_PAST)),
      );
    },
    forget: () => change(() => []),
  };
}

/** A list that this browser keeps for all tabs. What something else wrote is left out. */
function useList<Entry>(key: string, names: readonly (keyof Entry)[]) {
  const isEntry = (value: unknown): value is Entry =>
    names.every((name) => typeof (value as Entry | null)?.[name] === 'string');
  const read = (): readonly Entry[] => {
    const known = stored(localStorage, key);
    return Array.isArray(known) ? known.filter(isEntry) : [];
  };
  const [list, setList] = useState(read);
  const change = (next: (known: readonly Entry[]) => readonly Entry[]) => {
    const changed = next(read());
    localStorage.setItem(key, JSON.stringify(changed));
    setList(changed);
  };
  return [list, change] as const;
}

const BOXES = ['operation', 'variables', 'headers'] as const;

export type Box = (typeof BOXES)[number];

const keyOf = (name: Box | 'history') => `graphql:${graphqlPath}:${name}`;

/** Headers may contain a token, which ends with the tab. */
const storageOf = (box: Box) => (box === 'headers' ? sessionStorage : localStorage);

/** The text that a box had last. */
export const keptText = (box: Box): string => String(stored(storageOf(box), keyOf(box)) ?? '');

/** Keeps the texts of the boxes in this browser. */
export function useKeep(texts: Readonly<Record<Box, string>>, keeps: boolean): void {
  for (const box of BOXES)
    useEffect(() => {
      const write = () => storageOf(box).setItem(keyOf(box), JSON.stringify(texts[box]));
      if (keeps) ifThereIsRoom(write);
    }, [texts[box]]);
}

/** A value of this browser; null where there is none. */
function stored(storage: Storage, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** Without room the page forgets. */
function ifThereIsRoom(write: () => void): void {
  try {
    write();
  } catch {
    // The browser has no room.
  }
}
