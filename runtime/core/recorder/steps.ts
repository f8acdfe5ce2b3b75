import type { RecordedSample } from './sampler.ts';

/** The figures of one step of time, of all processes together. */
export interface TimeStep extends Omit<RecordedSample, 'counts'> {
  readonly counts: readonly number[];
}

/** The last steps of time, all of one length. */
export interface TimeSteps {
  /** Milliseconds. */
  readonly length: number;
  /** Adds the sample of a process. `source` is the number of the process. */
  add(source: number, sample: RecordedSample, now: number): void;
  /** The step that contains a time; undefined when nothing is known of it. */
  at(time: number): TimeStep | undefined;
}

interface Slot {
  readonly index: number;
  requests: number;
  errors: number;
  cpu: number;
  lag: number;
  readonly counts: number[];
  /** For each process: for how long it was measured, and its memory at the end. */
  readonly sources: Map<number, { seconds: number; memory: number }>;
}

/**
 * Keeps `count` steps of `length` milliseconds.
 *
 * @example createSteps(10_000, 360) // an hour
 */
export function createSteps(length: number, count: number): TimeSteps {
  const slots: (Slot | undefined)[] = Array.from({ length: count });
  const slotOf = (index: number) => {
    const slot = slots[index % count];
    return slot?.index === index ? slot : undefined;
  };
  return {
    length,
    add: (source, sample, now) => {
      const index = Math.floor(now / length);
      const slot = slotOf(index) ?? (slots[index % count] = emptySlot(index, sample));
      addTo(slot, source, sample);
      // A process that was busy for longer than a step was not off in that time, so the steps
      // between are filled.
      const missed = Math.min(Math.floor((sample.seconds * 1000) / length) - 1, count - 1);
      for (let back = 1; back <= missed && !slotOf(index - back); back += 1)
        slots[(index - back) % count] = copyOf(slot, index - back);
    },
    at: (time) => {
      const slot = slotOf(Math.floor(time / length));
      return slot && stepOf(slot);
    },
  };
}

const emptySlot = (index: number, { counts }: RecordedSample): Slot => ({
  ...{ index, requests: 0, errors: 0, cpu: 0, lag: 0 },
  counts: counts.map(() => 0),
  sources: new Map(),
});

const copyOf = (slot: Slot, index: number): Slot => ({
  ...slot,
  index,
  counts: [...slot.counts],
  sources: new Map([...slot.sources].map(([source, seen]) => [source, { ...seen }])),
});

function addTo(slot: Slot, source: number, sample: RecordedSample): void {
  slot.requests += sample.requests;
  slot.errors += sample.errors;
  slot.cpu += sample.cpu;
  slot.lag = Math.max(slot.lag, sample.lag);
  for (const [bucket, count] of sample.counts.entries()) slot.counts[bucket]! += count;
  const seconds = (slot.sources.get(source)?.seconds ?? 0) + sample.seconds;
  slot.sources.set(source, { seconds, memory: sample.memory });
}

/** Processes run side by side: their memory is added, and the time is that of the longest. */
function stepOf({ sources, ...figures }: Slot): TimeStep {
  const all = [...sources.values()];
  return {
    ...figures,
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
    memory: all.reduce((sum, { memory }) => sum + memory, 0),
  };
}
