import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import type { InputField, KeyOf, Module } from '../../rest-modules.ts';
import { moduleOf, labelOf } from './view.ts';
import type { Row } from './staged.ts';

export interface RelationSearchProps {
  readonly field: Pick<InputField, 'name' | 'required'>;
  readonly keyOf: KeyOf;
  readonly text: string;
  readonly id?: string;
  readonly inForm?: boolean;
  /** Called with the row that was chosen; the control is empty then. */
  choose?(id: string, label: string): void;
}

/** Milliseconds without a key after which the server is asked. */
const PAUSE = 180;
const MOST = 20;

/** Chooses a related row by its id, or by a part of its label. */
export function RelationSearch({ field, keyOf, text, id, inForm, choose }: RelationSearchProps) {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const [wanted, setWanted] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  const module = moduleOf(keyOf.type);
  const found = useFound(module, wanted);
  const open = wanted !== null && found.length > 0;
  const take = (row: Row) => {
    const id = String(row['id']);
    if (input.current) input.current.value = choose ? '' : id;
    setWanted(null);
    choose?.(id, labelIn(module, row));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (wanted === null) setWanted('');
      else setAt((at + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter' && open && found[at]) {
      event.preventDefault();
      take(found[at]);
    } else if (event.key === 'Escape' && open) {
      event.preventDefault();
      setWanted(null);
    }
  };
  return (
    <span class="relation-search">
      <input
        ref={input}
        name={field.name}
        id={id}
        role="combobox"
        aria-label={field.name}
        aria-expanded={open}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={open && at >= 0 ? `${list}-${at}` : undefined}
        autocomplete="off"
        required={inForm === true && field.required}
        placeholder={t('Search {type}', { type: keyOf.type })}
        defaultValue={text}
        onInput={(event) => {
          setAt(-1);
          setWanted(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onFocus={() => text === '' && setWanted('')}
        onBlur={() => setWanted(null)}
      />
      <Found id={list} {...{ keyOf, found, open, at, take }} />
    </span>
  );
}

interface FoundProps {
  readonly id: string;
  readonly keyOf: KeyOf;
  readonly found: readonly Row[];
  readonly open: boolean;
  /** The row that Enter takes. */
  readonly at: number;
  take(row: Row): void;
}

/** A list that scrolls would get the focus by Tab, and is hidden then. */
const Found = ({ id, keyOf: { type }, found, open, at, take }: FoundProps) => (
  <ul role="listbox" id={id} aria-label={type} hidden={!open} tabIndex={-1}>
    {found.map((row, index) => (
      <li
        key={String(row['id'])}
        id={`${id}-${index}`}
        role="option"
        aria-selected={index === at}
        onPointerDown={(event) => {
          event.preventDefault();
          take(row);
        }}
      >
        {String(row['id'])} <span class="label">{labelIn(moduleOf(type), row)}</span>
      </li>
    ))}
  </ul>
);

function labelIn(module: Module | undefined, row: Row): string {
  const name = module ? labelOf(module) : null;
  return name === null ? '' : String(row[name] ?? '');
}

/** The rows that a text finds. */
function useFound(module: Module | undefined, wanted: string | null): readonly Row[] {
  const [found, setFound] = useState<readonly Row[]>([]);
  useEffect(() => {
    if (!module || wanted === null) return setFound([]);
    const leaving = new AbortController();
    const search = () =>
      void find(module, wanted.trim(), leaving.signal).then(
        (rows) => leaving.signal.aborted || setFound(rows),
        () => leaving.signal.aborted || setFound([]),
      );
    const timer = setTimeout(search, wanted === '' ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [module, wanted]);
  return found;
}

/** Rows with the text in their label, after the row with that id. */
async function find(module: Module, wanted: string, signal: AbortSignal): Promise<Row[]> {
  const label = labelOf(module);
  const words = module.columns.find(({ name }) => name === label)?.words ?? [];
  const filters = [
    ...(wanted !== '' && isId(wanted) ? [{ id: wanted }] : []),
    ...(wanted === '' ? [{}] : []),
    ...(wanted !== '' && label !== null && words.includes('contains')
      ? [{ [`${label}_contains`]: wanted }]
      : []),
  ] as Record<string, string>[];
  const pages = await Promise.all(
    filters.map((filter) => {
      const parameters = new URLSearchParams({
        ...filter,
        limit: String(Math.min(MOST, module.limit)),
      });
      if (label !== null) parameters.set('fields', label);
      return call<{ data: Row[] }>('GET', `${module.path}?${parameters}`, undefined, { signal });
    }),
  );
  const rows = new Map(pages.flatMap(({ data }) => data).map((row) => [String(row['id']), row]));
  return [...rows.values()].slice(0, MOST);
}

const isId = (text: string) => /^\d{1,18}$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text);
