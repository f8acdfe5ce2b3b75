import { BOUNDS, type Family, type Sample } from './family.ts';

/** The figures of one process, which it counts in memory. */
export interface Metrics {
  /** The counter of this name, which is made on first use. */
  counter(named: Named): Counter;
  gauge(named: Named): Counter;
  /** A counter, and a histogram of the seconds that each counted thing took. */
  timings(counted: Pick<Named, 'name' | 'help'>, timed: Named): Timings;
  /** Adds metrics whose values are read when somebody asks for the page. */
  read(family: Omit<Family, 'samples'>, samples: () => readonly Sample[]): void;
  snapshot(): readonly Family[];
}

export interface Named {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** The most combinations of labels. Further ones are counted as `other`. */
  readonly most?: number;
}

export interface Counter {
  /** @param of the values of the labels, in their order. */
  add(of: readonly string[], by?: number): void;
}

export interface Timings {
  series(of: readonly string[]): Series;
}

/** One combination of labels. Code that uses the same one again should keep the object. */
export interface Series {
  observe(seconds: number): void;
  /** Counts an event without a duration. */
  count(): void;
}

/** The most combinations of labels in a family, whatever clients send. */
const MOST = 2000;

export function createMetrics(): Metrics {
  const families: (() => readonly Family[])[] = [];
  const known = new Map<string, Counter>();
  const counted = (type: 'counter' | 'gauge', named: Named): Counter => {
    const same = known.get(named.name);
    if (same) return same;
    const cells = cellsOf<{ value: number }>(named, () => ({ value: 0 }));
    const { name, help, labels } = named;
    families.push(() => [{ name, help, type, labels, samples: cells.all(({ value }) => value) }]);
    const counter: Counter = { add: (of, by = 1) => void (cells.at(of).value += by) };
    known.set(name, counter);
    return counter;
  };
  return {
    counter: (named) => counted('counter', named),
    gauge: (named) => counted('gauge', named),
    timings: (total, timed) => {
      const cells = cellsOf(timed, () => new TimedSeries());
      const { name, help, labels } = timed;
      families.push(() => [
        { ...total, type: 'counter', labels, samples: cells.all((each) => each.total) },
        {
          ...{ name, help, type: 'histogram', labels },
          samples: cells
            .list()
            .map(([of, { sum, counts }]) => ({ of, value: sum, counts: [...counts] })),
        },
      ]);
      return { series: (of) => cells.at(of) };
    },
    read: (family, samples) => families.push(() => [{ ...family, samples: samples() }]),
    snapshot: () => families.flatMap((read) => read()),
  };
}

class TimedSeries implements Series {
  readonly counts: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  sum = 0;
  total = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at += 1;
    this.counts[at]! += 1;
    this.sum += seconds;
    this.total += 1;
  }

  count(): void {
    this.total += 1;
  }
}

interface Cells<Cell> {
  at(of: readonly string[]): Cell;
  list(): readonly (readonly [of: readonly string[], cell: Cell])[];
  all(value: (cell: Cell) => number): readonly Sample[];
}

/** A cell for each combination of labels, up to a number. */
function cellsOf<Cell>({ labels, most = MOST }: Named, make: () => Cell): Cells<Cell> {
  const cells = new Map<string, readonly [of: readonly string[], cell: Cell]>();
  const others = labels.map(() => 'other');
  const at = (of: readonly string[]): Cell => {
    const key = of.length === 1 ? of[0]! : of.join('\n');
    const known = cells.get(key);
    if (known) return known[1];
    if (cells.size >= most && of !== others) return at(others);
    const cell = make();
    cells.set(key, [of, cell]);
    return cell;
  };
  return {
    at,
    list: () => [...cells.values()],
    all: (value) => [...cells.values()].map(([of, cell]) => ({ of, value: value(cell) })),
  };
}
