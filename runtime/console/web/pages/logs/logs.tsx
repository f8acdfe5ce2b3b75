import { useMemo } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Choice } from '../../parts/field.tsx';
import { LOG_LEVELS, type LogLevel } from '../../parts/log-lines.ts';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { useCall } from '../../parts/use-call.ts';
import { description } from '../../description.ts';
import { AppLog, ServerLog } from './followed-log.tsx';

interface Apps {
  readonly apps: readonly { readonly name: string }[];
}

const SERVER = 'server';

/** The page of the log of the server, or of an app, continued live. */
export function LogsPage() {
  const app = query.value.get('app');
  const level = levelOf(query.value.get('level'));
  const hasApps = description.value?.pages.some(({ id }) => id === 'apps') && can('apps:read');
  const { data } = useCall<Apps>(hasApps ? '/api/apps' : null, { every: 30_000 });
  const names = useMemo(() => namesOf(data, app), [data, app]);
  const filter = { search: query.value.get('q') ?? '', level };
  return (
    <Page
      title={t('Logs')}
      tools={
        <>
          <Choice
            label={t('Source')}
            value={app === null ? SERVER : `app:${app}`}
            options={[
              [SERVER, t('Server')],
              ...names.map((name) => [`app:${name}`, name] as const),
            ]}
            choose={(value) => setQuery({ app: value === SERVER ? null : value.slice(4) })}
          />
          <Choice
            label={t('Level')}
            value={level ?? ''}
            options={[['', t('All levels')], ...LOG_LEVELS.map((each) => [each, t(each)] as const)]}
            choose={(value) => setQuery({ level: value === '' ? null : value })}
          />
          <SearchBox label={t('Search logs')} pause={60} />
        </>
      }
    >
      {app === null ? (
        <ServerLog key={`${level}`} filter={filter} />
      ) : (
        <AppLog key={app} name={app} filter={filter} />
      )}
    </Page>
  );
}

const levelOf = (text: string | null): LogLevel | null =>
  LOG_LEVELS.find((level) => level === text) ?? null;

/** The names of apps. The app of the address is listed even before the others are read. */
function namesOf(known: Apps | undefined, asked: string | null): string[] {
  const names = (known?.apps ?? []).map(({ name }) => name);
  return asked === null || names.includes(asked) ? names : [asked, ...names];
}
