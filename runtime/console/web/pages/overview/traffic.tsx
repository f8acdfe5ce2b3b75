import { base } from '../../address.ts';
import { t } from '../../messages.ts';
import { Answer, Panel } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot.tsx';
import { formatNumber, Time } from '../../parts/time.tsx';
import { type Called, useCall } from '../../parts/use-call.ts';
import { type Figures, seriesOf, totalOf } from './figures.ts';

interface TrafficProps {
  readonly of: Called<Figures>;
}

/** The region `Requests`. */
export function RequestsPanel({ of }: TrafficProps) {
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
export function ErrorsPanel({ of }: TrafficProps) {
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
export function LatencyPanel({ of }: TrafficProps) {
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
