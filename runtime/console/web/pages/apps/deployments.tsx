import { useMemo } from 'preact/hooks';
import { base, query } from '../../address.ts';
import { t } from '../../messages.ts';
import { lineOf } from '../../parts/event-frames.ts';
import { LogLines } from '../../parts/log-lines.ts';
import { LogView } from '../../parts/log-view.tsx';
import { Badge, Facts, Panel } from '../../parts/page.tsx';
import { type Column, Table, timeColumn } from '../../parts/table.tsx';
import { formatDuration, Time } from '../../parts/time.tsx';
import { useStream } from '../../parts/use-stream.ts';
import { type AppProps, type Deployment, isBusy, routeOf, sourceText, toneOf } from './types.ts';
import { WebhookPanel } from './webhook.tsx';

/**
 * The deployments of an app. For one of them, its steps and its build log, which continues live.
 */
export function DeploymentsTab({ app, deployments }: AppProps) {
  const asked = Number(query.value.get('deployment'));
  const shown = deployments.find(({ number }) => number === asked);
  const under = deployments.find(({ status }) => isBusy(status));
  const chosen = shown ?? under;
  return (
    <>
      {chosen && <DeploymentRegion key={chosen.number} name={app.name} deployment={chosen} />}
      <Table
        name={t('Deployments')}
        columns={columns()}
        rows={deployments}
        keyOf={({ number }) => number}
        linkOf={({ number }) => `${base}/apps/${app.name}?tab=deployments&deployment=${number}`}
        empty={[
          t('No deployments yet'),
          t('Press Deploy to run an image, a repository or an archive.'),
        ]}
      />
      <WebhookPanel app={app} />
    </>
  );
}

const columns = (): readonly Column<Deployment>[] => [
  { id: 'number', title: t('Deployment'), render: ({ number }) => `#${number}` },
  {
    id: 'status',
    title: t('Status'),
    render: ({ status, current }) => (
      <>
        <Badge tone={toneOf(status)}>{t(status)}</Badge>
        {current && <> {t('serves')}</>}
      </>
    ),
  },
  { id: 'trigger', title: t('Trigger'), render: ({ trigger }) => t(trigger) },
  { id: 'source', title: t('Source'), render: ({ source }) => sourceText(source) },
  timeColumn('created_at', t('Started')),
  { id: 'duration', title: t('Duration'), align: 'end', render: durationText },
];

function durationText({ created_at: start, finished_at: end }: Deployment): string {
  if (end === null) return '–';
  return formatDuration((Date.parse(end) - Date.parse(start)) / 1000);
}

interface DeploymentProps {
  readonly name: string;
  readonly deployment: Deployment;
}

function DeploymentRegion({ name, deployment }: DeploymentProps) {
  const { number, reason, log, created_at: at } = deployment;
  const builds = deployment.source.kind === 'git' || deployment.source.kind === 'tarball';
  return (
    <Panel name={t('Deployment {n}', { n: number })}>
      <Facts
        rows={[
          [t('Source'), sourceText(deployment.source)],
          [t('Image'), deployment.image ?? '–'],
          [t('Started'), <Time key="started" at={at} absolute />],
        ]}
      />
      <Steps deployment={deployment} builds={builds} />
      {reason !== null && <p class="reason">{reason}</p>}
      {log.length > 0 && (
        <>
          <h3>{t('Last lines of the app')}</h3>
          <pre tabIndex={0}>{log.join('\n')}</pre>
        </>
      )}
      {builds && <BuildLog name={name} number={number} />}
    </Panel>
  );
}

type StepState = 'done' | 'now' | 'failed' | 'open';

/** The steps of a deployment, and how far it has come. */
function Steps({ deployment, builds }: { deployment: Deployment; builds: boolean }) {
  const steps = stepsOf(deployment, builds);
  return (
    <ol class="steps" aria-label={t('Steps')}>
      {steps.map(([title, state, detail]) => (
        <li key={title} class={`step ${state}`}>
          <b>{title}</b> <span class="quiet">{t(STATES[state])}</span>
          {detail !== undefined && <span class="quiet"> {detail}</span>}
        </li>
      ))}
    </ol>
  );
}

const STATES: Readonly<Record<StepState, string>> = {
  ...{ done: 'done', now: 'under way', failed: 'failed', open: 'not yet' },
};

type ShownStep = readonly [title: string, state: StepState, detail?: string | undefined];

function stepsOf({ status, probes, image }: Deployment, builds: boolean): readonly ShownStep[] {
  const ended = { healthy: 3, superseded: 3, failed: -1, cancelled: -1 };
  const rank = { pending: 0, building: 0, deploying: 1, ...ended }[status];
  const failedAt = probes.length > 0 ? 2 : image === null ? 0 : 1;
  const stateOf = (step: number): StepState => {
    if (rank === -1) return step < failedAt ? 'done' : step === failedAt ? 'failed' : 'open';
    if (rank > step) return 'done';
    return rank === step || (rank === 1 && step === 2 && probes.length > 0) ? 'now' : 'open';
  };
  const last = probes.at(-1);
  return [
    [builds ? t('Build') : t('Pull'), stateOf(0)],
    [t('Start'), rank === 1 && probes.length > 0 ? 'done' : stateOf(1)],
    [t('Probe'), stateOf(2), last && `${probes.length} × ${last.detail}`],
    [t('Switch'), rank === 3 ? 'done' : 'open'],
  ];
}

/** The output of a build from its beginning, continued live. */
function BuildLog({ name, number }: { name: string; number: number }) {
  const lines = useMemo(() => new LogLines(), []);
  const path = `${routeOf(name)}/deployments/${number}/logs`;
  const { error } = useStream(
    path,
    (events) => lines.append(events.map(({ id, data }) => ({ id, text: lineOf(data) }))),
    { ends: true },
  );
  return (
    <>
      <h3>{t('Build log')}</h3>
      {error !== null && <p role="alert">{error}</p>}
      <LogView name={t('Build log')} lines={lines} empty={t('The build has printed nothing yet')} />
    </>
  );
}
