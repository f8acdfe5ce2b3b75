/** Figures of one name, as Prometheus has them. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly samples: readonly Sample[];
  /** How the values of several processes are joined; added up when absent. */
  readonly joined?: 'largest';
}

export interface Sample {
  /** The values of the labels, in the order of `labels`. */
  readonly of: readonly string[];
  /** The sum of a histogram. */
  readonly value: number;
  /**
   * For a histogram: the number of values in each bucket, and at the end those above all bounds.
   */
  readonly counts?: readonly number[];
}

/** Upper bounds of the buckets of every histogram, in seconds. */
export const BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/**
 * Joins the figures of several processes.
 *
 * @example joinFamilies([here, there]) // counters, gauges and buckets are added
 */
export function joinFamilies(all: readonly (readonly Family[])[]): readonly Family[] {
  const joined = new Map<string, Family>();
  for (const family of all.flat()) {
    const known = joined.get(family.name);
    joined.set(family.name, known ? joinTwo(known, family) : family);
  }
  return [...joined.values()];
}

function joinTwo(one: Family, other: Family): Family {
  const samples = new Map(one.samples.map((sample) => [keyOf(sample), sample]));
  for (const sample of other.samples) {
    const known = samples.get(keyOf(sample));
    samples.set(keyOf(sample), known ? joinSamples(one, known, sample) : sample);
  }
  return { ...one, samples: [...samples.values()] };
}

const keyOf = ({ of }: Sample) => of.join('\n');

function joinSamples({ joined }: Family, one: Sample, other: Sample): Sample {
  const { of, value, counts } = one;
  if (joined === 'largest') return { of, value: Math.max(value, other.value) };
  return {
    of,
    value: value + other.value,
    ...(counts && { counts: counts.map((count, at) => count + (other.counts?.[at] ?? 0)) }),
  };
}
