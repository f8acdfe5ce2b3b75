import { BOUNDS, type Family, type Sample } from './family.ts';

/** The media type of the text. */
export const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Metrics in the text format of Prometheus, version 0.0.4.
 *
 * @example
 * renderFamilies([{ name: 'jobs', help: 'Jobs', type: 'gauge', labels: ['state'], samples: [{ of: ['waiting'], value: 2 }] }])
 * // # HELP jobs Jobs
 * // # TYPE jobs gauge
 * // jobs{state="waiting"} 2
 */
export function renderFamilies(families: readonly Family[]): string {
  return families.map(renderFamily).join('');
}

function renderFamily(family: Family): string {
  const { name, help, type, samples } = family;
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const sample of samples)
    text += sample.counts ? buckets(family, sample) : line(family, sample);
  return text;
}

function line({ name, labels }: Family, { of, value }: Sample): string {
  return `${name}${braces(pairs(labels, of))} ${value}\n`;
}

/**
 * The buckets of Prometheus: each counts all values up to its bound, so it includes the smaller
 * buckets.
 */
function buckets({ name, labels }: Family, { of, value, counts = [] }: Sample): string {
  const known = pairs(labels, of);
  const lead = known === '' ? '' : `${known},`;
  let sum = 0;
  let text = '';
  for (const [at, count] of counts.entries()) {
    sum += count;
    text += `${name}_bucket{${lead}le="${BOUNDS[at] ?? '+Inf'}"} ${sum}\n`;
  }
  return `${text}${name}_sum${braces(known)} ${value}\n${name}_count${braces(known)} ${sum}\n`;
}

const braces = (text: string) => (text === '' ? '' : `{${text}}`);

const pairs = (labels: readonly string[], values: readonly string[]) =>
  labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',');

const escaped = (value: string) =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
