import { base, query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { Badge, Empty, Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { formatBytes, formatTenths } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { NewApp } from './new-app.tsx';
import { type App, type Stats, toneOf, routeOf } from './types.ts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import type { PageProps } from '../../parts/lazy-page.tsx';
import { AppPage } from './app.tsx';

interface Apps {
  readonly apps: readonly App[];
  readonly total: number;
}

const EVERY = 4000;

/** The table `Apps`, and the button `New app`. */
export function AppList() {
  const q = query.value.get('q') ?? '';
  const path = q === '' ? '/api/apps' : `/api/apps?${new URLSearchParams({ q })}`;
  const { data, error, loading, reload } = useCall<Apps>(path, { every: EVERY });
  const usage = useUsage(data?.apps);
  const open = () => setQuery({ dialog: 'new' });
  const empty =
    q === '' ? (
      <Empty
        text={t('No apps yet')}
        hint={t('An app is a container image, a git repository, an archive or a template.')}
      >
        {can('apps:write') && <NewAppButton open={open} />}
      </Empty>
    ) : (
      <Empty text={t('No app has “{q}” in its name or domain', { q })} />
    );
  return (
    <Page
      title={t('Apps')}
      tools={
        <>
          <SearchBox label={t('Search apps')} />
          {can('apps:write') && <NewAppButton open={open} />}
        </>
      }
    >
      <Table
        name={t('Apps')}
        columns={columns(usage)}
        rows={data?.apps}
        linkOf={({ name }) => `${base}/apps/${name}`}
        of={{ loading, error, reload }}
        empty={empty}
      />
      {query.value.get('dialog') === 'new' && can('apps:write') && (
        <NewApp close={() => setQuery({ dialog: null, from: null }, { replace: true })} />
      )}
    </Page>
  );
}

const NewAppButton = ({ open }: { open: () => void }) => (
  <Button class="main" onClick={open}>
    {t('New app')}
  </Button>
);

function columns(usage: ReadonlyMap<string, Stats>): readonly Column<App>[] {
  return [
    { id: 'name', title: t('Name'), render: ({ name }) => name, sort: ({ name }) => name },
    {
      id: 'status',
      title: t('Status'),
      render: ({ status }) => <Badge tone={toneOf(status)}>{t(status)}</Badge>,
      sort: ({ status }) => status,
    },
    {
      id: 'domain',
      title: t('Domain'),
      render: ({ domain, url }) =>
        url === null ? (
          '–'
        ) : (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {domain}
          </a>
        ),
      sort: ({ domain }) => domain ?? '',
    },
    { id: 'image', title: t('Image'), render: ({ image }) => image ?? '–', sort: imageOf },
    {
      id: 'replicas',
      title: t('Replicas'),
      align: 'end',
      render: ({ replicas }) => replicas,
      sort: ({ replicas }) => replicas,
    },
    {
      id: 'cpu',
      title: t('CPU'),
      align: 'end',
      render: ({ name }) => usageText(usage.get(name), 'cpu'),
      sort: ({ name }) => usage.get(name)?.cpu_percent ?? null,
    },
    {
      id: 'memory',
      title: t('Memory'),
      align: 'end',
      render: ({ name }) => usageText(usage.get(name), 'memory'),
      sort: ({ name }) => usage.get(name)?.memory_bytes ?? null,
    },
  ];
}

const imageOf = ({ image }: App) => image;

/** What an app uses now; nothing while that is not known. */
const usageText = (stats: Stats | undefined, of: 'cpu' | 'memory') => {
  if (stats && of === 'memory') return formatBytes(stats.memory_bytes);
  const cpu = stats?.cpu_percent ?? null;
  return cpu === null ? <span class="quiet">–</span> : `${formatTenths(cpu)} %`;
};

/** Milliseconds between two rounds, and how many apps are asked about at once. */
const USAGE_EVERY = 4000;
const AT_ONCE = 4;

/**
 * What each running app uses, by its name. It is read repeatedly while the browser's tab is
 * visible.
 */
function useUsage(apps: readonly App[] | undefined): ReadonlyMap<string, Stats> {
  const [usage, setUsage] = useState<ReadonlyMap<string, Stats>>(new Map());
  const names = useRef<readonly string[]>([]);
  names.current = (apps ?? []).flatMap(({ name, status }) => (status === 'running' ? [name] : []));
  const known = apps !== undefined;
  useEffect(() => {
    if (!known) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout>;
    const round = async () => {
      if (!document.hidden) setUsage(await readAll(names.current, signal));
      if (!signal.aborted) timer = setTimeout(() => void round(), USAGE_EVERY);
    };
    void round();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [known]);
  return usage;
}

async function readAll(names: readonly string[], signal: AbortSignal) {
  const found = new Map<string, Stats>();
  const rest = names.values();
  const reader = async () => {
    for (const name of rest) {
      const stats = await call<Stats>('GET', `${routeOf(name)}/stats`, undefined, { signal }).catch(
        () => null,
      );
      if (stats) found.set(name, stats);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reader));
  return found;
}

/** The hosted apps, or one of them. */
export function AppsPage({ rest: [name] }: PageProps) {
  return name === undefined || name === '' ? <AppList /> : <AppPage key={name} name={name} />;
}
