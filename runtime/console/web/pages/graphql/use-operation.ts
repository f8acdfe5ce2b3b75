import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';

/** Characters that an address holds; a longer operation stays in the tab alone. */
const LONGEST = 6000;
/** Milliseconds without a key after which the address follows. */
const PAUSE = 300;

export type SetText = Dispatch<StateUpdater<string>>;

/** The text of the operation. The address contains it; `kept` is the text where it has none. */
export function useOperation(kept: string): [text: string, set: SetText] {
  const given = query.value.get('query') ?? '';
  const [text, setText] = useState(given || kept);
  const path = useRef(location.pathname);
  const written = useRef(given);
  useEffect(() => {
    // Back, forward and a link change the address. A text that this page wrote itself needs no
    // update.
    if (given === written.current) return;
    written.current = given;
    setText(given);
  }, [given]);
  useEffect(() => {
    const next = text.length > LONGEST ? '' : text;
    if (next === written.current) return;
    const timer = setTimeout(() => {
      // A link may have led to another page meanwhile.
      if (location.pathname !== path.current) return;
      written.current = next;
      setQuery({ query: next === '' ? null : next, variables: null }, { replace: true });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
