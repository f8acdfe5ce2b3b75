/** A line of a plot. */
export interface PlotSeries {
  readonly name: string;
  /**
   * `ms`, `bytes` and `cores` have a format of their own. Any other unit is written after the
   * value: `/s`.
   */
  readonly unit: string;
  /**
   * Seconds since 1970, and the value; null where there is none. Every series has the same times.
   */
  readonly points: readonly (readonly [time: number, value: number | null])[];
  /**
   * The colour: `1` to `4`, or `bad` for a value that should be 0. When absent, the position of the
   * series decides.
   */
  readonly color?: PlotColor;
}

export type PlotColor = '1' | '2' | '3' | '4' | 'bad';

/** A series whose colour has been decided. */
export type Colored = PlotSeries & { readonly color: PlotColor };
