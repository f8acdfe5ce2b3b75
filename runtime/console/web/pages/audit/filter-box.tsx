import { useId } from 'preact/hooks';
import { useTyped } from '../../parts/search-box.tsx';

interface FilterBoxProps {
  readonly label: string;
  /** The parameter of the address that has the text. */
  readonly parameter: string;
  /** Texts that are offered. */
  readonly known: readonly string[];
  /** Whether `/` goes to it. */
  readonly first?: boolean;
}

/** A filter whose value is in the address. */
export function FilterBox({ label, parameter, known, first = false }: FilterBoxProps) {
  const id = useId();
  const [text, type] = useTyped({ parameter });
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
