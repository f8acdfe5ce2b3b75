import { base, query, setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { Failure } from '../parts/failure.tsx';
import { useTitle } from '../parts/title.ts';
import { useCall } from '../parts/use-call.ts';
import { type Module, modulesOf, type OpenApi } from '../rest-modules.ts';
import { Cell } from '../parts/cell.tsx';
import { RowRegion } from './row.tsx';

type Row = Readonly<Record<string, unknown>>;

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
export function DataPage({ plural }: { plural: string | null }) {
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
      {shown && <Rows module={shown} />}
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
  const row = query.value.get('row');
  return (
    <section aria-busy={loading} class="rows">
      {error !== null && <Failure error={error} again={reload} />}
      {data && data.data.length === 0 && <p class="quiet">{t('No rows')}</p>}
      {data && data.data.length > 0 && <Grid module={module} page={data} />}
      {row !== null && <RowRegion module={module} id={row} />}
    </section>
  );
}

function Grid({ module, page }: { module: Module; page: Page }) {
  const { total, page: number, page_size: size } = page.pagination;
  return (
    <>
      <div class="scroll">
        <table role="grid" aria-label={module.type} aria-rowcount={total + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {module.fields.map((field) => (
                <Header key={field} field={field} />
              ))}
            </tr>
          </thead>
          <tbody>
            {page.data.map((row, index) => (
              <tr key={String(row['id'])} aria-rowindex={(number - 1) * size + index + 2}>
                {module.fields.map((field) => (
                  <td key={field}>
                    {field === 'id' ? (
                      <RowLink id={String(row['id'])} />
                    ) : (
                      <Cell value={row[field]} />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pager {...page.pagination} />
    </>
  );
}

function RowLink({ id }: { id: string }) {
  const to = new URLSearchParams(query.value);
  to.set('row', id);
  return <a href={`?${to}`}>{id}</a>;
}

const NEXT = { none: 'ascending', ascending: 'descending', descending: 'none' } as const;

function Header({ field }: { field: string }) {
  const sorted = query.value.get('sort') === field;
  const descending = query.value.get('order') === 'desc';
  const now = sorted ? (descending ? 'descending' : 'ascending') : 'none';
  const turn = () => {
    const next = NEXT[now];
    setQuery({
      sort: next === 'none' ? null : field,
      order: next === 'none' ? null : next === 'descending' ? 'desc' : 'asc',
      page: null,
    });
  };
  return (
    <th aria-sort={now} scope="col">
      <button type="button" onClick={turn}>
        {field}
        <span aria-hidden="true">{{ none: '', ascending: ' ↑', descending: ' ↓' }[now]}</span>
      </button>
    </th>
  );
}

function Pager({ page, total, total_pages: pages }: Page['pagination']) {
  return (
    <div class="pager">
      <span role="status">
        {t('{total} rows', { total: new Intl.NumberFormat('en').format(total) })}
      </span>
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
