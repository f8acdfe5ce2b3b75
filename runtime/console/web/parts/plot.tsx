import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import { theme } from '../theme.ts';
import { Button } from './button.tsx';
import { figure, type Colored, type PlotColor, type PlotSeries } from './plot-series.ts';
import type { DrawnPlot } from './plot-canvas.ts';

export interface PlotProps {
  /**
   * The title of the plot. Together with the last values it is the text alternative of the image.
   */
  readonly name: string;
  readonly series: readonly PlotSeries[];
  /** Pixels; 180 when absent. */
  readonly height?: number;
  /** Whether the area below the line is filled; it is when there is one series. */
  readonly filled?: boolean;
}

const COLORS: readonly PlotColor[] = ['1', '2', '3', '4'];

/**
 * Values over time as an image. Its text alternative has the last values. It has a legend with the
 * values at the pointer, and the button `Show as table`.
 *
 * @example
 * <Plot name={t('Requests')} series={[{ name: 'requests', unit: '/s', points: [[1764000000, 12.5]] }]} />
 */
export function Plot({ name, series, height = 180, filled = series.length === 1 }: PlotProps) {
  const [asTable, setAsTable] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const colored = series.map((each, at) => ({
    ...each,
    color: each.color ?? COLORS[at % COLORS.length] ?? '1',
  }));
  const id = useId();
  const label = `${name}: ${colored.map(lastOf).join(', ')}`;
  return (
    <figure class="plot">
      <figcaption class="plot-head">
        <ul class="plot-legend">
          {colored.map((each) => (
            <li key={each.name}>
              <span class={`plot-mark plot-${each.color}`} />
              {each.name} <b>{valueAt(each, pointed)}</b>
            </li>
          ))}
        </ul>
        <Button
          class="plain"
          aria-expanded={asTable}
          aria-controls={id}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? t('Show as plot') : t('Show as table')}
        </Button>
      </figcaption>
      <div id={id}>
        {asTable ? (
          <PlotTable name={name} series={colored} height={height} />
        ) : (
          <div role="img" aria-label={label} class="plot-image" style={{ height: `${height}px` }}>
            <PlotCanvas series={colored} height={height} filled={filled} point={setPointed} />
          </div>
        )}
      </div>
    </figure>
  );
}

/** The name and the last value of a series: `p95 12 ms`, or a dash when there is none. */
const lastOf = (series: PlotSeries): string => `${series.name} ${valueAt(series, null)}`;

/** The value at an index, or the last known value. */
function valueAt({ points, unit }: PlotSeries, at: number | null): string {
  const value = at === null ? points.findLast((point) => point[1] !== null)?.[1] : points[at]?.[1];
  return value === null || value === undefined ? t('no data') : figure(value, unit);
}

interface PlotCanvasProps {
  readonly series: readonly Colored[];
  readonly height: number;
  readonly filled: boolean;
  point(at: number | null): void;
}

/** uPlot's canvas, whose code is loaded with the first plot. */
function PlotCanvas({ series, height, filled, point }: PlotCanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<DrawnPlot | null>(null);
  const latest = useRef(series);
  latest.current = series;
  const names = series.map(({ name }) => name).join('\n');
  useEffect(() => {
    let left = false;
    void import('./plot-canvas.ts').then(({ drawPlot }) => {
      if (left || !place.current) return;
      plot.current = drawPlot(place.current, latest.current, { height, filled, point });
    });
    return () => {
      left = true;
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names, height, filled]);
  useEffect(() => plot.current?.update(series), [series, theme.value]);
  return <div ref={place} class="plot-canvas" />;
}

interface PlotTableProps {
  readonly name: string;
  readonly series: readonly PlotSeries[];
  readonly height: number;
}

/** The values of a plot as a table, newest first. Times without any value are left out. */
function PlotTable({ name, series, height }: PlotTableProps) {
  const times = (series[0]?.points ?? []).map(([time], at) => ({ time, at }));
  const known = times.filter(({ at }) => series.some(({ points }) => points[at]?.[1] != null));
  return (
    <div class="scroll plot-table" style={{ height: `${height}px` }} tabIndex={0}>
      <table aria-label={name}>
        <thead>
          <tr>
            <th scope="col">{t('Time')}</th>
            {series.map((each) => (
              <th key={each.name} scope="col">
                {each.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {known.toReversed().map(({ time, at }) => (
            <tr key={time}>
              <th scope="row">{CLOCK.format(time * 1000)}</th>
              {series.map(({ name: column, points, unit }) => (
                <td key={column}>{points[at]?.[1] == null ? '–' : figure(points[at][1], unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const CLOCK = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
