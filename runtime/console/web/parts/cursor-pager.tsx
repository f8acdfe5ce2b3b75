import { query, setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { formatNumber } from './time.tsx';

interface CursorPagerProps {
  /** The `next_cursor` of the answer: null on the last page. */
  readonly next: string | null | undefined;
  /** How many there are in all, when the server says so. */
  readonly total?: number | undefined;
  /** The parameter of the address: `cursor` when it is left out. */
  readonly parameter?: string;
}

/** The cursor before each cursor, for the pages that this browser tab has shown. */
const before = new Map<string, string | null>();

/**
 * Buttons for the pages of a list that the server reads by a cursor. The address contains the
 * cursor.
 *
 * @example <CursorPager next={data?.next_cursor} total={data?.total} />
 */
export function CursorPager({ next, total, parameter = 'cursor' }: CursorPagerProps) {
  const here = query.value.get(parameter);
  const previous = here === null ? undefined : before.get(here);
  const go = (cursor: string | null) => setQuery({ [parameter]: cursor });
  const forward = () => {
    if (!next) return;
    before.set(next, here);
    go(next);
  };
  if (here === null && !next && total === undefined) return null;
  return (
    <div class="pager">
      {total !== undefined && (
        <p class="quiet" role="status">
          {t('{n} in all', { n: formatNumber(total) })}
        </p>
      )}
      {(here !== null || next) && (
        <div class="buttons">
          <Button disabled={here === null} onClick={() => go(null)}>
            {t('First page')}
          </Button>
          {previous !== undefined && (
            <Button onClick={() => go(previous)}>{t('Previous page')}</Button>
          )}
          <Button disabled={!next} onClick={forward}>
            {t('Next page')}
          </Button>
        </div>
      )}
    </div>
  );
}
