import { useEffect, useState } from 'preact/hooks';
import { base, query } from '../../address.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Answer, Badge, Empty, Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../parts/use-call.ts';
import { AppActions } from './actions.tsx';
import { BackupsTab } from './backups.tsx';
import { DeploymentsTab } from './deployments.tsx';
import { DomainsTab } from './domains.tsx';
import { EnvironmentTab } from './environment.tsx';
import { OverviewTab } from './overview.tsx';
import { RunsTab } from './runs.tsx';
import { ScaleTab } from './scale.tsx';
import { TerminalTab } from './terminal.tsx';
import {
  type App,
  type AppProps,
  type Deployment,
  isBusy,
  routeOf,
  sourceText,
  toneOf,
} from './types.ts';
import { VolumesTab } from './volumes.tsx';
import { AppLog } from '../logs/followed-log.tsx';
import { SearchBox } from '../../parts/search-box.tsx';

/** Milliseconds between two looks: at an app that changes, and at one that rests. */
const SOON = 1000;
const LATER = 5000;

interface Deployments {
  readonly deployments: readonly Deployment[];
}

/** The page of one app: its actions, why its last deployment failed, and its tabs. */
export function AppPage({ name }: { name: string }) {
  const [busy, setBusy] = useState(false);
  const every = busy ? SOON : LATER;
  const app = useCall<App>(routeOf(name), { every });
  const history = useCall<Deployments>(`${routeOf(name)}/deployments`, { every });
  const deployments = history.data?.deployments ?? [];
  const changes =
    isBusy(app.data?.status ?? '') || deployments.some(({ status }) => isBusy(status));
  useEffect(() => setBusy(changes), [changes]);
  const reload = () => {
    app.reload();
    history.reload();
  };
  return (
    <Page
      title={name}
      about={<a href={`${base}/apps`}>{t('All apps')}</a>}
      tools={app.data && <AppActions {...{ app: app.data, deployments, reload }} />}
    >
      <Answer of={app}>
        {(data) => (
          <>
            <Summary app={data} />
            <FailureNotice {...{ app: data, deployments }} />
            <Tabs label={name} tabs={tabsOf({ app: data, deployments, reload })} />
          </>
        )}
      </Answer>
    </Page>
  );
}

/** The status, source and usage of the app in one line. */
function Summary({ app }: { app: App }) {
  const { status, url, source, image, deployment, restarts } = app;
  return (
    <p class="app-summary">
      <Badge tone={toneOf(status)}>{t(status)}</Badge>
      {url !== null && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {url}
        </a>
      )}
      <span class="quiet">{source ? sourceText(source) : (image ?? '')}</span>
      {deployment !== null && <span class="quiet">{t('Deployment {n}', { n: deployment })}</span>}
      {restarts > 0 && (
        <span class="quiet">
          {t(restarts === 1 ? '1 restart' : '{n} restarts', { n: restarts })}
        </span>
      )}
    </p>
  );
}

function tabsOf(props: AppProps) {
  const tabs = [
    { id: 'overview', title: t('Overview'), render: () => <OverviewTab {...props} /> },
    { id: 'deployments', title: t('Deployments'), render: () => <DeploymentsTab {...props} /> },
    { id: 'logs', title: t('Logs'), render: () => <LogsTab {...props} /> },
    { id: 'environment', title: t('Environment'), render: () => <EnvironmentTab {...props} /> },
    { id: 'domains', title: t('Domains'), render: () => <DomainsTab {...props} /> },
    { id: 'volumes', title: t('Volumes'), render: () => <VolumesTab {...props} /> },
    { id: 'backups', title: t('Backups'), render: () => <BackupsTab {...props} /> },
    { id: 'runs', title: t('Runs'), render: () => <RunsTab {...props} /> },
    { id: 'scale', title: t('Scale'), render: () => <ScaleTab {...props} /> },
  ];
  const terminal = {
    id: 'terminal',
    title: t('Terminal'),
    render: () => <TerminalTab {...props} />,
  };
  return can('apps:exec') ? [...tabs, terminal] : tabs;
}

/**
 * Says why the last deployment failed or the app ended, with its last lines and what to do next.
 * Nothing is shown while a deployment runs.
 */
function FailureNotice({ app, deployments }: Pick<AppProps, 'app' | 'deployments'>) {
  const last = deployments[0];
  if (last && isBusy(last.status)) return null;
  if (last?.status === 'failed') return <FailedDeployment app={app} deployment={last} />;
  if (app.error === undefined) return null;
  return (
    <div class="failure-notice" role="alert">
      <h2>
        {app.status === 'crashed'
          ? t('{name} has crashed', { name: app.name })
          : t('{name} has a problem', { name: app.name })}
      </h2>
      <p>{app.error}</p>
      <p class="next-step">
        {t('Next:')} <a href={`${base}/apps/${app.name}?tab=logs`}>{t('read its logs')}</a>,{' '}
        {t('fix the cause, then press Deploy or Start.')}
      </p>
    </div>
  );
}

function FailedDeployment({ app, deployment }: { app: App; deployment: Deployment }) {
  const { number, reason, log, has_build_log: hasLog } = deployment;
  return (
    <div class="failure-notice" role="alert">
      <h2>{t('Deployment {n} failed', { n: number })}</h2>
      <p>{reason}</p>
      {log.length > 0 && <pre tabIndex={0}>{log.slice(-LINES).join('\n')}</pre>}
      <p class="next-step">
        {app.deployment === null
          ? t('Nothing serves yet.')
          : t('Deployment {n} goes on serving.', { n: app.deployment })}{' '}
        {t('Next:')}{' '}
        <a href={`${base}/apps/${app.name}?tab=deployments&deployment=${number}`}>
          {hasLog ? t('read the build log') : t('see its steps')}
        </a>
        , {t('fix the source or the settings, then press Deploy.')}
      </p>
    </div>
  );
}

/** Lines of the app's output that are enough to see why it ended. */
const LINES = 12;

/** The output of all replicas, continued live. */
function LogsTab({ app: { name, deployment } }: AppProps) {
  if (deployment === null) return <Empty text={t('The app has not been deployed yet')} />;
  return (
    <>
      <SearchBox label={t('Search logs')} pause={60} />
      <AppLog name={name} filter={{ search: query.value.get('q') ?? '', level: null }} />
    </>
  );
}
