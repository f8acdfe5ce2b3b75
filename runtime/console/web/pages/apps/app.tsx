import { useEffect, useState } from 'preact/hooks';
import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { Answer, Badge, Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../parts/use-call.ts';
import { AppActions } from './actions.tsx';
import { BackupsTab } from './backups.tsx';
import { DeploymentsTab } from './deployments.tsx';
import { DomainsTab } from './domains.tsx';
import { EnvironmentTab } from './environment.tsx';
import { FailureNotice } from './failure-notice.tsx';
import { LogsTab } from './logs.tsx';
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
