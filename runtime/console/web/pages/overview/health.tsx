import type { ComponentChildren } from 'preact';
import type { Figures, ServerDescription } from '../../../flows/server.ts';
import { t } from '../../messages.ts';
import { figure } from '../../parts/plot-series.ts';
import { Answer, Badge, Panel } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot.tsx';
import { formatBytes, formatDuration, formatTime } from '../../parts/time.tsx';
import type { Called } from '../../parts/use-call.ts';
import { description } from '../../description.ts';
import { lastOf, seriesOf } from './figures.ts';

interface HealthProps {
  readonly info: Called<ServerDescription>;
  readonly figures: Called<Figures>;
  /** How many problems there are. */
  readonly attention: number;
}

/** The panel `Health`: since when the server runs, and the resources that it uses. */
export function HealthPanel({ info, figures, attention }: HealthProps) {
  return (
    <div class="panels overview-health">
      <Panel name={t('Health')} tools={<StateBadge attention={attention} known={info.data} />}>
        <Answer of={info} lines={3}>
          {(server) => <Tiles server={server} figures={figures.data} />}
        </Answer>
        {/* A server that failed is told of once. */}
        {(info.error === null || figures.data !== undefined) && (
          <Answer of={figures} lines={5}>
            {(known) => <Usage known={known} cpus={info.data?.cpus ?? 1} />}
          </Answer>
        )}
      </Panel>
    </div>
  );
}

/** What the process uses of the machine, over the range. */
const Usage = ({ known, cpus }: { known: Figures; cpus: number }) => (
  <div class="overview-pair">
    <Plot name={t('CPU')} height={120} series={[seriesOf(known, 'cpu', t('CPU'), '2', cpus)]} />
    <Plot name={t('Memory')} height={120} series={[seriesOf(known, 'memory', t('Memory'), '4')]} />
  </div>
);

function StateBadge({ attention, known }: { attention: number; known: unknown }) {
  if (known === undefined) return null;
  return attention === 0 ? (
    <Badge tone="good">{t('Healthy')}</Badge>
  ) : (
    <Badge tone="busy">{t('Needs attention')}</Badge>
  );
}

interface TilesProps {
  readonly server: ServerDescription;
  readonly figures: Figures | undefined;
}

function Tiles({ server, figures }: TilesProps) {
  const { cpus, memory, disk, uptime, started_at: started, node, hostname, os } = server;
  const latest = (name: string, unit: string, whole = 1) => {
    const value = figures ? lastOf(figures, name) : null;
    return value === null ? '–' : figure(value / whole, unit);
  };
  return (
    <dl class="tiles">
      <Tile name={t('Uptime')} value={formatDuration(uptime)} note={formatTime(started)} />
      <Tile
        name={t('CPU')}
        value={latest('cpu', '%', cpus / 100)}
        note={t(cpus === 1 ? 'of 1 core' : 'of {n} cores', { n: cpus })}
      />
      <Tile
        name={t('Memory')}
        value={latest('memory', 'bytes')}
        note={t('of {size}', { size: formatBytes(memory) })}
      />
      <Tile
        name={t('Disk free')}
        value={disk ? formatBytes(disk.free) : '–'}
        note={disk ? t('of {size}', { size: formatBytes(disk.total) }) : ''}
      />
      <Tile
        name={t('Event loop delay')}
        value={latest('event_loop_lag', 'ms')}
        note={t('99th percentile')}
      />
      <Tile
        name={t('Version')}
        value={description.value?.version ?? '–'}
        note={`Node ${node} · ${hostname}`}
        title={os}
      />
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note: string;
  readonly title?: string;
}

function Tile({ name, value, note, title }: TileProps) {
  return (
    <div class="tile" title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="tile-note">{note}</dd>
    </div>
  );
}
