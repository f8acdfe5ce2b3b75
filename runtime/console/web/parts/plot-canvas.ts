import UPlot from 'uplot';
import { figure, type Colored } from './plot-series.ts';

/** A plot in the document. */
export interface DrawnPlot {
  update(series: readonly Colored[]): void;
  destroy(): void;
}

interface PlotOptions {
  readonly height: number;
  readonly filled: boolean;
  /**
   * Called with the index of the point under the pointer, and with null when the pointer leaves.
   */
  point(at: number | null): void;
}

/** Draws series into an element, which it fills at every width and in both colour schemes. */
export function drawPlot(
  place: HTMLElement,
  series: readonly Colored[],
  { height, filled, point }: PlotOptions,
): DrawnPlot {
  const color = createColors(place);
  const plot = new UPlot(
    {
      width: place.clientWidth || 300,
      height,
      padding: [8, 16, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_, least, most) => yRange(least, most) } },
      axes: [
        { ...axis(color), values: (_, times) => clockTimes(times), size: 28 },
        {
          ...axis(color),
          values: (_, values) => onceEach(values.map((v) => figure(v, series[0]?.unit ?? ''))),
          size: 68,
        },
      ],
      series: [{}, ...series.map((each) => lineOf(each, color, filled))],
      hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
    },
    dataOf(series),
    place,
  );
  const resized = new ResizeObserver(() => {
    if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height });
  });
  resized.observe(place);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const redraw = () => plot.redraw(false);
  scheme.addEventListener('change', redraw);
  return {
    update: (next) => plot.setData(dataOf(next)),
    destroy: () => {
      resized.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    },
  };
}

function dataOf(series: readonly Colored[]): UPlot.AlignedData {
  const times = (series[0]?.points ?? []).map(([time]) => time);
  return [times, ...series.map(({ points }) => points.map(([, value]) => value))];
}

/** From zero on, and with room above: a flat line at zero is not a full plot. */
function yRange(_least: number, most: number | null): [number, number] {
  const top = most === null || most <= 0 ? 1 : most;
  return [0, top * 1.15];
}

type Colors = (name: string) => string;

/**
 * The colours of `plot.css` as the canvas takes them: read from an element, which knows the scheme.
 */
function createColors(place: HTMLElement): Colors {
  const probe = document.createElement('span');
  probe.hidden = true;
  place.append(probe);
  return (name) => {
    probe.className = `plot-${name}`;
    return getComputedStyle(probe).color;
  };
}

function axis(color: Colors): UPlot.Axis {
  return {
    stroke: () => color('quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: () => color('grid'), width: 1 },
    ticks: { show: false },
    space: 44,
  };
}

function lineOf({ color: name }: Colored, color: Colors, filled: boolean): UPlot.Series {
  return {
    stroke: () => color(name),
    width: 1.5,
    points: { show: true, size: 4, fill: () => color(name), filter: alonePoints },
    spanGaps: false,
    ...(filled && { fill: () => faded(color(name)) }),
  };
}

/**
 * Points without a neighbour, which no line would show: those of a server that has just started.
 */
function alonePoints(plot: UPlot, at: number): number[] {
  const values = plot.data[at] ?? [];
  const known = (index: number) => values[index] != null;
  return [...values.keys()].filter(
    (index) => known(index) && !known(index - 1) && !known(index + 1),
  );
}

/** `rgb(1, 2, 3)` with little of its colour. */
const faded = (color: string) => color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)');

const CLOCK = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** The times for the marks of the axis. */
const clockTimes = (times: readonly number[]): string[] =>
  onceEach(times.map((time) => CLOCK.format(time * 1000)));

/** Texts of marks. Marks that are closer together than a minute, or than a byte, share one. */
const onceEach = (texts: readonly string[]): string[] =>
  texts.map((text, at) => (texts[at - 1] === text ? '' : text));
