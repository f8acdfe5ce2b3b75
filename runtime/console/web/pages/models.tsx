import { query, setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { can } from '../parts/can.ts';
import { Choice } from '../parts/field.tsx';
import { Badge, Page, RESERVED } from '../parts/page.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import { actionsColumn, type Columns, Table } from '../parts/table.tsx';
import { formatBytes } from '../parts/time.tsx';
import { useCall } from '../parts/use-call.ts';
import { ModelActions, type Model, type Models, TONES } from './models/actions.tsx';
import { Chat } from './models/chat.tsx';

/** A model that is downloaded or started is looked at more often. */
const every = (list: Models | undefined) => (list && isBusy(list) ? 700 : 5000);
const STATUSES = ['', 'available', 'downloading', 'downloaded', 'running'] as const;

/** The page of language models: their list, downloads, running models, and a chat. */
export function ModelsPage() {
  const { data, error, loading, reload } = useCall<Models>('/api/mlx/models', { every });
  const status = query.value.get('status') ?? '';
  const q = (query.value.get('q') ?? '').toLowerCase();
  const shown = data?.models.filter((model) => matches(model, q, status));
  return (
    <Page
      title={t('Models')}
      about={data ? <About {...data} /> : RESERVED}
      tools={
        <>
          <Choice
            label={t('Status')}
            value={status}
            options={STATUSES.map((each) => [each, each === '' ? t('all') : t(each)] as const)}
            choose={(next) => setQuery({ status: next === '' ? null : next })}
          />
          <SearchBox label={t('Search models')} />
        </>
      }
    >
      {data?.running != null && <Chat key={data.running} model={data.running} />}
      <Table
        name={t('Models')}
        columns={columnsOf(reload)}
        rows={shown?.toSorted((a, b) => rankOf(a) - rankOf(b))}
        of={{ loading, error, reload }}
        empty={[t('No models match'), t('Change the search or the status.')]}
      />
    </Page>
  );
}

/** The order of models: those that run or are downloaded first, those that cannot run here last. */
const rankOf = ({ status, runnable }: Model) => RANKS[status] + (runnable === false ? 3 : 0);

const RANKS = { running: 0, downloading: 1, downloaded: 2, available: 3 } as const;

const isBusy = ({ models, state }: Models): boolean =>
  state === 'starting' ||
  state === 'restarting' ||
  models.some(({ status }) => status === 'downloading');

const matches = ({ id, name, status: is }: Model, q: string, status: string): boolean =>
  (status === '' || is === status) && `${id} ${name}`.toLowerCase().includes(q);

function About({ engine, eligible, reason, state, running }: Models) {
  if (!eligible)
    return (
      <>
        {t('No model can run on this server.')} {reason}
      </>
    );
  return (
    <>
      {t('Engine')}: {engine} · {running ?? t(state ?? 'stopped')}
    </>
  );
}

function columnsOf(reload: () => void): Columns<Model> {
  return [
    {
      id: 'name',
      title: t('Model'),
      render: ({ id, name, error }) => (
        <span class="model-name">
          <b>{name}</b>
          <span class="quiet">{id}</span>
          {error !== undefined && <span class="model-error">{error}</span>}
        </span>
      ),
      sort: ({ name }) => name,
    },
    { id: 'status', title: t('Status'), render: (model) => <ModelStatus {...model} /> },
    {
      id: 'size',
      title: t('Size'),
      align: 'end',
      render: ({ size_bytes: bytes }) => (bytes > 0 ? formatBytes(bytes) : '–'),
      sort: ({ size_bytes: bytes }) => bytes,
    },
    {
      id: 'format',
      title: t('Format'),
      render: ({ format, quantization }) => [format, quantization].filter(Boolean).join(' '),
      sort: ({ format }) => format,
    },
    { id: 'licence', title: t('Licence'), render: ({ licence }) => licence ?? '–' },
    can('models:write') &&
      actionsColumn((model: Model) => <ModelActions model={model} reload={reload} />),
  ];
}

function ModelStatus({ id, status, progress, downloaded_bytes: bytes, runnable }: Model) {
  if (status !== 'downloading')
    return (
      <>
        <Badge tone={TONES[status]}>{t(status)}</Badge>
        {runnable === false && <p class="quiet">{t('does not run here')}</p>}
      </>
    );
  const percent = Math.round((progress ?? 0) * 100);
  return (
    <span class="model-progress">
      <progress max={100} value={percent} aria-label={t('Download of {id}', { id })} />
      {percent} % {bytes !== undefined && <span class="quiet">{formatBytes(bytes)}</span>}
    </span>
  );
}
