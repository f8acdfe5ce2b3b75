import { query, setQuery, base } from '../../address.ts';
import { t } from '../../messages.ts';
import { Choice } from '../../parts/field.tsx';
import { Page, Panel, Answer } from '../../parts/page.tsx';
import { useCall, type Called } from '../../parts/use-call.ts';
import type { Figures, ServerDescription } from '../../../flows/server.ts';
import { RANGES, seriesOf, totalOf } from './figures.ts';
import { HealthPanel } from './health.tsx';
import { PageIcon } from '../../parts/icons.tsx';
import { formatNumber, Time } from '../../parts/time.tsx';
import { description, type Description } from '../../description.ts';
import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Plot } from '../../parts/plot.tsx';
import { useAttention, AttentionList } from './attention.tsx';

/** The page `Overview`: problems, figures, and the next steps. */
export function OverviewPage() {
  const asked = query.value.get('range');
  const range = RANGES.find(({ id }) => id === asked) ?? RANGES[0];
  const info = useCall<ServerDescription>('/api/system/info', { every: 10_000 });
  const figures = useCall<Figures>(`/api/system/metrics?range=${range.id}`, { every: range.every });
  const attention = useAttention(info.data);
  const choose = (id: string) => setQuery({ range: id === RANGES[0].id ? null : id });
  return (
    <Page
      title={t('Overview')}
      tools={
        <Choice
          label={t('Range')}
          value={range.id}
          options={RANGES.map(({ id, title }) => [id, t(title)] as const)}
          choose={choose}
        />
      }
    >
      <AttentionList items={attention} />
      <FirstSteps />
      <HealthPanel info={info} figures={figures} attention={attention.length} />
      <div class="panels overview-traffic">
        <RequestsPanel of={figures} />
        <ErrorsPanel of={figures} />
        <LatencyPanel of={figures} />
      </div>
    </Page>
  );
}

/** Short texts about what each page is for, on a new server. */
const STEPS = [
  ['data', 'Add rows', 'See what is in each table, and change it.'],
  ['graphql', 'Try a query', 'Write one with completion, and see its plan in the database.'],
  ['users', 'Manage users', 'Roles, sessions, API keys, and what happened.'],
  ['apps', 'Deploy an app', 'From an image, a repository or an archive.'],
  ['models', 'Run a model', 'Download one and ask it something.'],
  ['logs', 'Read the log', 'Live, searchable, of all workers.'],
  ['schema', 'Look at the schema', 'Types, their relations, and migrations.'],
] as const;

const KEY = 'console-first-steps';

/** Links to the next steps. They are shown in development until the user hides them. */
function FirstSteps() {
  const [hidden, setHidden] = useState(localStorage.getItem(KEY) === 'hidden');
  const known = description.value;
  const steps = STEPS.flatMap(([id, title, text]) => {
    const page = known?.pages.find((each) => each.id === id);
    return page ? [{ id, title, text, path: page.path }] : [];
  });
  if (hidden || known?.environment !== 'development' || steps.length === 0) return null;
  const hide = () => {
    localStorage.setItem(KEY, 'hidden');
    setHidden(true);
  };
  return (
    <Panel
      name={t('Next steps')}
      tools={
        <Button class="plain" onClick={hide}>
          {t('Hide')}
        </Button>
      }
    >
      <ul class="first-steps">
        {steps.map(({ id, title, text, path }) => (
          <li key={id}>
            <a href={path}>
              <PageIcon id={id} />
              <b>{t(title)}</b>
              <span class="quiet">{t(text)}</span>
            </a>
          </li>
        ))}
        {canHost(known) && <HostingStep />}
      </ul>
    </Panel>
  );
}

/**
 * A server that hosts no apps yet can do so after one line, which only the caller with every
 * permission is told.
 */
const canHost = ({ pages, caller }: Description) =>
  caller?.permissions.includes('*') === true && !pages.some(({ id }) => id === 'apps');

const HostingStep = () => (
  <li class="first-step">
    <PageIcon id="apps" />
    <b>{t('Host apps')}</b>
    <span class="quiet">{t('Add to manifest.yaml, then npm run dev:')}</span>
    <code>hosting: {'{}'}</code>
  </li>
);

interface TrafficProps {
  readonly of: Called<Figures>;
}

/** The region `Requests`. */
function RequestsPanel({ of }: TrafficProps) {
  return (
    <Panel name={t('Requests')} tools={<Total of={of.data} name="requests" />}>
      <Answer of={of} lines={7}>
        {(known) => (
          <Plot name={t('Requests')} series={[seriesOf(known, 'requests', t('Requests'), '1')]} />
        )}
      </Answer>
    </Panel>
  );
}

function Total({ of, name }: { of: Figures | undefined; name: string }) {
  if (!of) return null;
  return (
    <span class="quiet overview-total">
      {t('{n} in all', { n: formatNumber(totalOf(of, name)) })}
    </span>
  );
}

interface LoggedLine {
  readonly id: string;
  readonly time: string;
  readonly message: string;
}

/**
 * The region `Errors`: answers with a status of 500 or more, and the last lines of the log that say
 * why.
 */
function ErrorsPanel({ of }: TrafficProps) {
  const logged = useCall<{ lines: LoggedLine[] }>('/api/system/logs?level=error&limit=3', {
    every: 15_000,
  });
  const lines = logged.data?.lines ?? [];
  return (
    <Panel name={t('Errors')} tools={<Total of={of.data} name="errors" />}>
      <Answer of={of} lines={7}>
        {(known) => (
          <Plot name={t('Errors')} series={[seriesOf(known, 'errors', t('Errors'), 'bad')]} />
        )}
      </Answer>
      {lines.length > 0 && (
        <ul class="overview-errors" aria-label={t('Last errors')}>
          {lines.map(({ id, time, message }) => (
            <li key={id}>
              <a href={`${base}/logs?level=error`}>{message || t('no message')}</a>
              <Time at={time} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/**
 * The region `Latency`: the time within which half, 95 % and 99 % of the requests were answered.
 */
function LatencyPanel({ of }: TrafficProps) {
  return (
    <Panel name={t('Latency')}>
      <Answer of={of} lines={7}>
        {(known) => (
          <Plot
            name={t('Latency')}
            series={[
              seriesOf(known, 'latency_p50', 'p50', '4'),
              seriesOf(known, 'latency_p95', 'p95', '1'),
              seriesOf(known, 'latency_p99', 'p99', '3'),
            ]}
          />
        )}
      </Answer>
    </Panel>
  );
}
