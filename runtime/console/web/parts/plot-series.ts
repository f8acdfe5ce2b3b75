/** A line of a plot. */
export interface PlotSeries {
  readonly name: string;
  /** `ms`, `bytes`, `cores`, or any other, which is written after the value: `/s`. */
  readonly unit: string;
  /** Seconds since 1970, and the value; null where there is none. Every series has the same times. */
  readonly points: readonly (readonly [time: number, value: number | null])[];
  /** Its colour: `1` to `4`, or `bad` for what should not be. By its place when absent. */
  readonly color?: PlotColor;
}

export type PlotColor = '1' | '2' | '3' | '4' | 'bad';

/** A series whose colour is chosen. */
export type Colored = PlotSeries & { readonly color: PlotColor };
