import { type Dispatch, type StateUpdater, useEffect, useRef, useState } from 'preact/hooks';
import { page, query, setQuery } from '../../address.ts';

/** Characters that an address holds; a longer operation stays in the tab alone. */
const LONGEST = 6000;
/** Milliseconds without a key after which the address follows. */
const PAUSE = 300;

export type SetText = Dispatch<StateUpdater<string>>;

/** The text of the operation. The address contains it. */
export function useOperation(): [text: string, set: SetText] {
  const given = query.value.get('query') ?? '';
  const [text, setText] = useState(given);
  const written = useRef(given);
  useEffect(() => {
    // Back, forward and a link change the address. A text that this page wrote itself needs no
    // update.
    if (given === written.current) return;
    written.current = given;
    setText(given);
  }, [given]);
  useEffect(() => {
    const kept = text.length > LONGEST ? '' : text;
    if (kept === written.current) return;
    const timer = setTimeout(() => {
      if (page.value !== 'graphql') return;
      written.current = kept;
      setQuery({ query: kept === '' ? null : kept }, { replace: true });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
