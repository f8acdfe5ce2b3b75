import { useEffect, useMemo } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { returns } from '../../parts/connection.ts';
import { Failure, Empty, Loading } from '../../parts/page.tsx';
import { formatNumber } from '../../parts/time.tsx';
import type { Module } from '../../rest-modules.ts';
import { FilterChips } from './filter.tsx';
import { Grid } from './grid.tsx';
import { modules, filterParameters, pageParameters, shownColumns } from './view.ts';
import { RowRegion } from './row-region.tsx';
import { RowStore } from './row-store.ts';
import { Selection } from './selection.ts';
import { Refusals, saveAll, Tools } from './tools.tsx';

/** Rows that one request reads. */
const BLOCK = 100;

/** The rows of a type, and what can be done with them. */
export function Rows({ module }: { module: Module }) {
  const rows = useMemo(() => new RowStore(Math.min(BLOCK, module.limit)), [module]);
  const selection = useMemo(() => new Selection(), [module]);
  const fields = query.value.get('fields');
  const columns = useMemo(() => shownColumns(module, fields), [module, fields]);
  const asked = pageParameters(columns, modules.value);
  useEffect(() => rows.ask(module.path, asked), [rows, String(asked), returns.value]);
  useEffect(() => () => rows.close(), [rows]);
  const open = (index: number) => {
    const id = rows.at(index)?.['id'];
    if (id !== undefined) setQuery({ row: String(id) });
  };
  const row = query.value.get('row');
  const { total, error, loading } = rows;
  return (
    <section class="rows" aria-label={t('Rows of {type}', { type: module.type })}>
      <Tools module={module} rows={rows} selection={selection} />
      <FilterChips module={module} />
      <Refusals module={module} />
      {error.value !== null && <Failure error={error.value} again={() => rows.reload()} />}
      {total.value === null && error.value === null && <Loading lines={12} />}
      {total.value === 0 && !loading.value && <NoRows module={module} />}
      <div class={row === null ? 'rows-beside' : 'rows-beside with-row'}>
        {total.value !== null && total.value > 0 && (
          <Grid
            module={module}
            columns={columns}
            rows={rows}
            selection={selection}
            start={startOf(rows.size)}
            open={open}
            save={() => void saveAll({ module, rows })}
          />
        )}
        {row !== null && module.readable && <RowRegion key={row} module={module} id={row} />}
      </div>
      {total.value !== null && total.value > 0 && <Total rows={total.value} />}
    </section>
  );
}

/** The first row of the page that the address names. */
function startOf(size: number): number {
  const page = Number(query.value.get('page') ?? 1);
  const limit = Number(query.value.get('limit') ?? size);
  return Number.isInteger(page) && page > 1 ? (page - 1) * limit : 0;
}

const Total = ({ rows }: { rows: number }) => (
  <p class="quiet total">
    {t(rows === 1 ? '1 row' : '{total} rows', { total: formatNumber(rows) })}
  </p>
);

function NoRows({ module }: { module: Module }) {
  const parameters = filterParameters();
  parameters.delete('sort');
  parameters.delete('order');
  if (parameters.size > 0)
    return (
      <Empty text={t('No rows match the filter')}>
        <Button
          onClick={() =>
            setQuery(Object.fromEntries([...parameters.keys()].map((name) => [name, null])))
          }
        >
          {t('Clear filter')}
        </Button>
      </Empty>
    );
  return (
    <Empty
      text={t('No rows')}
      hint={
        module.create
          ? t('There is no row of {type} that you may read. Add one with New row.', {
              type: module.type,
            })
          : t('There is no row of {type} that you may read.', { type: module.type })
      }
    />
  );
}
