import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../address.ts';
import { SearchIcon } from './icons.tsx';

interface SearchBoxProps {
  /** The name of the box: `Search users`. */
  readonly label: string;
  /** The parameter of the address that has the text: `q` when it is left out. */
  readonly parameter?: string;
  /** Called with the text, which is then not written into the address. */
  readonly search?: (text: string) => void;
  /** Milliseconds without a key after which the text counts: fewer where no server is asked. */
  readonly pause?: number;
}

/** In milliseconds. It is long enough to type a word without a call for each letter. */
const PAUSE = 250;

/**
 * The search of a page. The address contains its text, where the page reads it. The key `/` moves
 * the focus to it.
 *
 * @example
 * <SearchBox label={t('Search users')} />
 * useCall(`/api/auth/admin/users?${new URLSearchParams({ q: query.value.get('q') ?? '' })}`);
 */
export function SearchBox(props: SearchBoxProps) {
  const { label } = props;
  const [text, type] = useTyped(props);
  return (
    <span class="search">
      <SearchIcon />
      <input
        type="search"
        data-search=""
        aria-label={label}
        placeholder={label}
        aria-keyshortcuts="/"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </span>
  );
}

/** The text of a box, and a function for what is typed, which counts after a pause. */
export function useTyped({
  parameter = 'q',
  search,
  pause = PAUSE,
}: Omit<SearchBoxProps, 'label'>): [text: string, type: (next: string) => void] {
  const given = search ? null : (query.value.get(parameter) ?? '');
  const [text, setText] = useState(given ?? '');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (given !== null && timer.current === undefined) setText(given);
  }, [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (next: string) => {
    timer.current = undefined;
    if (search) search(next);
    else setQuery({ [parameter]: next === '' ? null : next, ...START }, { replace: true });
  };
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(take, pause, next);
  };
  return [text, type];
}

/** Parameters that a new search removes, because its results begin at the first page. */
const START = { page: null, cursor: null };
