import { setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { Cell } from '../parts/cell.tsx';
import { Failure } from '../parts/failure.tsx';
import { useCall } from '../parts/use-call.ts';
import type { Module } from '../rest-modules.ts';

/** One row with all that the caller may read of it. */
export function RowRegion({ module, id }: { module: Module; id: string }) {
  const { data, error, loading, reload } = useCall<Readonly<Record<string, unknown>>>(
    `/api/${module.plural}/${encodeURIComponent(id)}`,
  );
  return (
    <section class="row" aria-label={t('Row {id}', { id })} aria-busy={loading}>
      <div class="buttons">
        <h2>{t('Row {id}', { id })}</h2>
        <span class="spread" />
        <button type="button" onClick={() => setQuery({ row: null })}>
          {t('Close')}
        </button>
      </div>
      {error !== null && <Failure error={error} again={reload} />}
      {data && (
        <dl>
          {Object.entries(data).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Cell value={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
