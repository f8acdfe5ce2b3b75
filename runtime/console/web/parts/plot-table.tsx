import { t } from '../messages.ts';
import { figure } from './figures.ts';
import type { PlotSeries } from './plot-series.ts';

interface PlotTableProps {
  readonly name: string;
  readonly series: readonly PlotSeries[];
  readonly height: number;
}

/** The values of a plot as a table, newest first. Times without any value are left out. */
export function PlotTable({ name, series, height }: PlotTableProps) {
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
