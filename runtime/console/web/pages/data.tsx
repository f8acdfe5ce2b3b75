import { useState } from 'preact/hooks';
import { base, query, setQuery } from '../address.ts';
import { ApiError, call } from '../call.ts';
import { t } from '../messages.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Failure } from '../parts/failure.tsx';
import type { PageProps } from '../parts/lazy-page.tsx';
import { useTitle } from '../parts/title.ts';
import { useCall } from '../parts/use-call.ts';
import { type Module, modulesOf, type OpenApi } from '../rest-modules.ts';
import { discardChanges, type Row, saveChanges, staged, unsaved } from '../staged.ts';
import { Grid } from './grid.tsx';
import { ChangedMeanwhile } from './meanwhile.tsx';
import { NewRow } from './new-row.tsx';
import { RowRegion } from './row.tsx';

interface Page {
  readonly data: readonly Row[];
  readonly pagination: {
    readonly total: number;
    readonly page: number;
    readonly page_size: number;
    readonly total_pages: number;
  };
}

/** Rows of every type that the REST API lists, under the caller's own rights. */
export function DataPage({ rest }: PageProps) {
  const plural = rest[0] ?? null;
  useTitle(t('Data'));
  const { data: document, error, loading, reload } = useCall<OpenApi>('/api/openapi.json');
  const modules = document ? modulesOf(document) : [];
  const shown = modules.find((each) => each.plural === plural);
  return (
    <div class="with-list" aria-busy={loading}>
      <h1>{t('Data')}</h1>
      {error !== null && <Failure error={error} again={reload} />}
      {document && modules.length === 0 && (
        <p>{t('The schema lists no type: add a field to Query, or api.crud to the manifest.')}</p>
      )}
      <nav aria-label={t('Types')} class="list">
        <ul>
          {modules.map(({ plural: name, type }) => (
            <li key={name}>
              <a href={`${base}/data/${name}`} aria-current={name === plural ? 'page' : undefined}>
                {type}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {shown && <Rows key={shown.plural} module={shown} />}
      {document && plural !== null && !shown && (
        <p role="alert">{t('There is no type {plural}', { plural })}</p>
      )}
    </div>
  );
}

/** Parameters of the address that are the console's own. The others go to the REST API. */
const OWN = new Set(['row', 'locale']);

function requestOf(plural: string, parameters: URLSearchParams): string {
  const own = new URLSearchParams([...parameters].filter(([name]) => !OWN.has(name)));
  if (!own.has('limit')) own.set('limit', '50');
  return `/api/${plural}?${own}`;
}

function Rows({ module }: { module: Module }) {
  const { data, error, loading, reload } = useCall<Page>(requestOf(module.plural, query.value));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = (id: string, on: boolean) => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  const row = query.value.get('row');
  const changed = () => {
    setSelected(new Set());
    reload();
  };
  return (
    <section aria-busy={loading} class="rows">
      <Tools module={module} selected={selected} changed={changed} />
      {error !== null && <Failure error={error} again={reload} />}
      {data && data.data.length === 0 && <p class="quiet">{t('No rows')}</p>}
      {data && data.data.length > 0 && (
        <>
          <Grid
            module={module}
            rows={data.data}
            total={data.pagination.total}
            first={(data.pagination.page - 1) * data.pagination.page_size}
            selected={selected}
            select={select}
          />
          <Pager {...data.pagination} />
        </>
      )}
      {row !== null && <RowRegion module={module} id={row} />}
    </section>
  );
}

interface ToolsProps {
  readonly module: Module;
  readonly selected: ReadonlySet<string>;
  changed(): void;
}

/** What can be done with the rows; a control whose call the API does not have is not there. */
function Tools({ module, selected, changed }: ToolsProps) {
  const [making, setMaking] = useState(false);
  const meanwhile = [...staged.value.values()].find(({ theirs }) => theirs !== null);
  const save = async () => {
    await saveChanges();
    changed();
  };
  return (
    <div class="tools">
      {module.create && (
        <button type="button" onClick={() => setMaking(true)}>
          {t('New row')}
        </button>
      )}
      {module.remove && <DeleteRows module={module} selected={selected} changed={changed} />}
      {module.update.length > 0 && (
        <>
          <button
            type="button"
            class="main"
            disabled={unsaved.value === 0}
            onClick={() => void save()}
          >
            {t('Save changes')}
          </button>
          <button type="button" disabled={unsaved.value === 0} onClick={discardChanges}>
            {t('Discard changes')}
          </button>
          <span role="status">
            {unsaved.value === 0 ? '' : t('{n} unsaved changes', { n: unsaved.value })}
          </span>
        </>
      )}
      {making && module.create && (
        <NewRow
          module={module}
          fields={module.create}
          close={(made) => {
            setMaking(false);
            if (made) changed();
          }}
        />
      )}
      {meanwhile && <ChangedMeanwhile key={meanwhile.id} row={meanwhile} done={changed} />}
    </div>
  );
}

function DeleteRows({ module, selected, changed }: ToolsProps) {
  const [asking, setAsking] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const remove = async () => {
    setAsking(false);
    setRefused(await removeRows(module.plural, selected));
    changed();
  };
  const text = t('{n} rows of {type} will be deleted: {ids}', {
    n: selected.size,
    type: module.type,
    ids: [...selected].join(', '),
  });
  return (
    <>
      <button type="button" disabled={selected.size === 0} onClick={() => setAsking(true)}>
        {t('Delete rows')}
      </button>
      {refused !== null && <span role="alert">{refused}</span>}
      {asking && (
        <Confirm
          text={text}
          action={t('Delete rows')}
          confirm={() => void remove()}
          cancel={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** @returns the first refusal, or null. */
async function removeRows(plural: string, ids: ReadonlySet<string>): Promise<string | null> {
  let refused: string | null = null;
  for (const id of ids)
    try {
      await call('DELETE', `/api/${plural}/${encodeURIComponent(id)}`);
    } catch (error) {
      refused ??= `${id}: ${error instanceof ApiError ? error.error : String(error)}`;
    }
  return refused;
}

function Pager({ page, total, total_pages: pages }: Page['pagination']) {
  return (
    <div class="pager">
      <span>{t('{total} rows', { total: new Intl.NumberFormat('en').format(total) })}</span>
      <button
        type="button"
        disabled={page <= 1}
        onClick={() => setQuery({ page: String(page - 1) })}
      >
        {t('Previous page')}
      </button>
      <span>{t('Page {page} of {pages}', { page, pages: Math.max(pages, 1) })}</span>
      <button
        type="button"
        disabled={page >= pages}
        onClick={() => setQuery({ page: String(page + 1) })}
      >
        {t('Next page')}
      </button>
    </div>
  );
}
