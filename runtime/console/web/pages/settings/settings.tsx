import type { ShownSetting as Setting } from '../../../flows/settings.ts';
import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Badge, Empty, Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useCall } from '../../parts/use-call.ts';

/** Every key of the manifest and every setting that the server read, and where each comes from. */
export function SettingsPage() {
  const { data, error, loading, reload } = useCall<{ settings: Setting[] }>('/api/system/settings');
  const wanted = (query.value.get('q') ?? '').trim().toLowerCase();
  const rows = data?.settings.filter((setting) => isWanted(setting, wanted));
  return (
    <Page
      title={t('Settings')}
      about={t(
        'What manifest.yaml and the environment say. Change them there; a change counts from the next start.',
      )}
      tools={<SearchBox label={t('Search settings')} pause={60} />}
    >
      <Table
        name={t('Settings')}
        rows={rows}
        columns={COLUMNS()}
        keyOf={({ name }) => name}
        of={{ loading, error, reload }}
        empty={<Empty text={t('No settings match')} />}
      />
    </Page>
  );
}

/** Whether the search finds a setting. Its source, such as `.env`, is searched too. */
const isWanted = ({ name, value, source }: Setting, wanted: string) =>
  wanted === '' || `${name} ${textOf(value)} ${source}`.toLowerCase().includes(wanted);

const COLUMNS = (): readonly Column<Setting>[] => [
  {
    id: 'name',
    title: t('Name'),
    render: ({ name }) => <code>{name}</code>,
    sort: ({ name }) => name,
  },
  { id: 'value', title: t('Value'), render: (setting) => <Value {...setting} />, width: 'wrap' },
  {
    id: 'source',
    title: t('Source'),
    render: ({ source }) =>
      source === 'default' ? <span class="quiet">{source}</span> : <Badge>{source}</Badge>,
    sort: ({ source }) => source,
    width: 'fit',
  },
];

function Value({ value, secret, set }: Setting) {
  if (secret) return <span class="quiet">{set ? t('set') : t('not set')}</span>;
  if (value === null || value === '') return <span class="quiet">–</span>;
  return <code class={set ? undefined : 'quiet'}>{textOf(value)}</code>;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
