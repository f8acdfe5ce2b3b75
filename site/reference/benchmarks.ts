import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../folders.ts';
import { table } from './table.ts';

/** A run of `npm run bench:graphql -- --readme`, as it wrote it. */
interface BenchmarkRun {
  readonly machine: string;
  readonly lines: readonly {
    readonly title: string;
    /** With sign-in and a middleware, then bare. */
    readonly comparisons: readonly Comparison[];
  }[];
}

interface Comparison {
  readonly ours: number;
  readonly hand: { readonly cost: number; readonly times: number };
  readonly peer: { readonly name: string; readonly cost: number; readonly times: number };
}

const SHAPES = [
  [
    'As users run it',
    'With sign-in (an access token whose session each request looks up in the database), one middleware and one CORS origin.',
  ],
  ['Bare', 'GraphQL only.'],
] as const;

/** What the last run of the benchmark measured, from the file that it wrote. */
export function benchmarksReference(): string {
  const run = JSON.parse(
    readFileSync(join(root, 'test/bench/graphql.json'), 'utf8'),
  ) as BenchmarkRun;
  return `# Benchmarks

The same queries over the same rows, on this server, on its peers and on a handler of \`node:http\` written by hand. Every server gave the same answer before
anything was measured. A number is the CPU time of the server's process for a request, in microseconds: less is better.

Seen on ${run.machine}. [How it is measured](../../test/bench/graphql.md), which peers there are and what is left to do. \`npm run bench:graphql\` repeats it on your
machine: figures of two machines cannot be compared, ratios can.

${SHAPES.map(([title, about], at) => `## ${title}\n\n${about}\n\n${tableOf(run, at)}`).join('\n\n')}

"× of ours" above 1 means that the peer takes more than this server, and below 1 that it takes less. "by hand" is a prepared statement whose JSON is sent as it is.
`;
}

function tableOf({ lines }: BenchmarkRun, shape: number): string {
  const rows = lines.map(({ title, comparisons }) => {
    const { ours, hand, peer } = comparisons[shape]!;
    return [
      title,
      cost(ours),
      `${cost(hand.cost)} (ours takes ${hand.times.toFixed(2)} ×)`,
      `${peer.name}: ${cost(peer.cost)} (${peer.times.toFixed(2)} × of ours)`,
    ];
  });
  return table(['Workload', 'Twofold', 'by hand', 'fastest peer'], rows);
}

const cost = (microseconds: number) => microseconds.toFixed(microseconds < 100 ? 1 : 0);
