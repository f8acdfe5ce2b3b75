import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';

interface FilterBoxProps {
  readonly label: string;
  /** The parameter of the address that has the text. */
  readonly parameter: string;
  /** Texts that are offered. */
  readonly known: readonly string[];
  /** Whether `/` goes to it. */
  readonly first?: boolean;
}

/** Milliseconds without a key after which the text counts. */
const PAUSE = 300;

/** A filter whose value is in the address. */
export function FilterBox({ label, parameter, known, first = false }: FilterBoxProps) {
  const id = useId();
  const given = query.value.get(parameter) ?? '';
  const [text, setText] = useState(given);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (timer.current === undefined) setText(given);
  }, [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setQuery({ [parameter]: next === '' ? null : next, cursor: null }, { replace: true });
    }, PAUSE);
  };
  return (
    <span class="filter-box">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        list={`${id}-known`}
        autocomplete="off"
        spellcheck={false}
        value={text}
        {...(first && { 'data-search': '' })}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <datalist id={`${id}-known`}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </span>
  );
}
