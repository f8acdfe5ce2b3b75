import { useEffect, useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Empty, Facts, Panel } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot.tsx';
import type { PlotSeries } from '../../parts/plot-series.ts';
import { Time } from '../../parts/time.tsx';
import { useCall } from '../../parts/use-call.ts';
import { useStream } from '../../parts/use-stream.ts';
import { type AppProps, routeOf, sourceText, type Stats } from './types.ts';

/** The tab `Overview`: plots of what the app uses, its events, and its settings. */
export function OverviewTab({ app }: AppProps) {
  return (
    <>
      <Usage {...{ app }} />
      <Events name={app.name} />
      <Panel name={t('Settings')}>
        <Facts
          rows={[
            [t('Source'), sourceText(app.source)],
            [t('Image'), app.image ?? '–'],
            [t('Port'), app.port],
            [t('Command'), app.command ? app.command.join(' ') : t('that of the image')],
            [t('Created'), <Time key="created" at={app.created_at} absolute />],
            [t('Changed'), <Time key="changed" at={app.updated_at} absolute />],
          ]}
        />
      </Panel>
    </>
  );
}

interface Sample {
  readonly at: number;
  readonly stats: Stats | null;
}

const EVERY = 2000;
/** Ten minutes. */
const KEPT = 300;

function Usage({ app }: Pick<AppProps, 'app'>) {
  const runs = app.status === 'running';
  const { data } = useCall<Stats>(runs ? `${routeOf(app.name)}/stats` : null, { every: EVERY });
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    const sample = { at: Date.now() / 1000, stats: data ?? null };
    setSamples((last) => [...last, sample].slice(-KEPT));
  }, [data]);
  const limit = app.resources.memory_mb;
  return (
    <div class="plots">
      <Panel name={t('CPU')}>
        <Plot
          name={t('CPU')}
          series={[seriesOf(t('used'), '%', samples, ({ cpu_percent: cpu }) => cpu)]}
        />
      </Panel>
      <Panel name={t('Memory')}>
        <Plot
          name={limit > 0 ? t('Memory of {n} MB', { n: limit * app.replicas }) : t('Memory')}
          series={[seriesOf(t('used'), 'bytes', samples, ({ memory_bytes: bytes }) => bytes)]}
        />
      </Panel>
      <Panel name={t('Network')}>
        <Plot
          name={t('Network')}
          series={[
            rateOf(t('received per second'), samples, ({ network_in_bytes: bytes }) => bytes),
            rateOf(t('sent per second'), samples, ({ network_out_bytes: bytes }) => bytes),
          ]}
        />
      </Panel>
    </div>
  );
}

function seriesOf(
  name: string,
  unit: string,
  samples: readonly Sample[],
  value: (stats: Stats) => number | null,
): PlotSeries {
  return {
    ...{ name, unit },
    points: samples.map(({ at, stats }) => [at, stats ? value(stats) : null] as const),
  };
}

/** Bytes a second between two samples. A counter that is smaller than before began anew. */
function rateOf(
  name: string,
  samples: readonly Sample[],
  count: (stats: Stats) => number,
): PlotSeries {
  const points = samples.map(({ at, stats }, index) => {
    const before = samples[index - 1];
    if (!stats || !before?.stats) return [at, null] as const;
    const rate = (count(stats) - count(before.stats)) / (at - before.at);
    return [at, rate < 0 ? null : rate] as const;
  });
  return { name, unit: 'bytes', points };
}

interface AppEvent {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const MOST_EVENTS = 50;

/** Shows the app's events while the page is open. */
function Events({ name }: { name: string }) {
  const [events, setEvents] = useState<readonly AppEvent[]>([]);
  useStream('/api/events', (frames) => {
    const more = frames.flatMap(({ id, event, data }) => {
      const values = JSON.parse(data) as AppEvent['data'];
      return values['app'] === name ? [{ id, at: Date.now(), type: event, data: values }] : [];
    });
    if (more.length > 0) setEvents((last) => [...more.toReversed(), ...last].slice(0, MOST_EVENTS));
  });
  return (
    <Panel name={t('Events')}>
      {events.length === 0 ? (
        <Empty text={t('No events since this page was opened')} />
      ) : (
        <ol class="events">
          {events.map(({ id, at, type, data }) => (
            <li key={id}>
              <Time at={at} /> <b>{t(type)}</b> {wordsOf(data)}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

const wordsOf = ({ app: _app, ...data }: AppEvent['data']): string =>
  Object.entries(data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');
