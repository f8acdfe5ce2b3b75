import { useEffect } from 'preact/hooks';
import { navigate } from '../address.ts';
import { t } from '../messages.ts';
import { description } from '../description.ts';

/** Goes on to the first page that the caller has. */
export function HomePage() {
  const first = description.value?.pages[0]?.path;
  useEffect(() => {
    if (first !== undefined) navigate(first, { replace: true });
  }, [first]);
  return first === undefined ? <h1>{t('Your role has no pages here')}</h1> : null;
}
