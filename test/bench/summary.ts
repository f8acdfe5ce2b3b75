/** The few figures of a run that the README shows. */
import type { Shape } from './shape.ts';

/** One workload in one shape: microseconds of server CPU a request. */
export interface Comparison {
  readonly ours: number;
  /** What it is by hand, and how often that ours is. */
  readonly hand: { readonly cost: number; readonly times: number };
  /** The fastest peer, and how often ours its cost is. */
  readonly peer: { readonly name: string; readonly cost: number; readonly times: number };
}

/** One workload in each of the shapes that were measured, in their order. */
export interface Line {
  readonly title: string;
  readonly comparisons: readonly Comparison[];
}

/** The columns of one shape. As users run it is what needs no word. */
const COLUMNS: Readonly<Record<Shape, readonly string[]>> = {
  asRun: ['Twofold', 'SQL by hand (ours takes)', 'fastest peer (takes of ours)'],
  bare: ['bare: Twofold', 'bare: SQL by hand', 'bare: fastest peer'],
};

const START = '<!-- bench:graphql -->';
const END = '<!-- /bench:graphql -->';

/**
 * @param shapes what was measured, e.g. both
 * @param machine when and where the run was made, e.g. `2026-11-22, Node v24.1.0, 2 cores`
 */
export function renderSummary(
  lines: readonly Line[],
  shapes: readonly Shape[],
  machine: string,
): string {
  const columns = shapes.flatMap((shape) => COLUMNS[shape]);
  return [
    `| µs of server CPU a request | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...lines.map(
      ({ title, comparisons }) => `| ${[title, ...comparisons.flatMap(cellsOf)].join(' | ')} |`,
    ),
    '',
    `Seen on ${machine}; [how, and the rest of it](test/bench/graphql.md).`,
  ].join('\n');
}

const cellsOf = ({ ours, hand, peer }: Comparison): readonly string[] => [
  figure(ours),
  `${figure(hand.cost)} (${hand.times.toFixed(2)} ×)`,
  `${peer.name}: ${figure(peer.cost)} (${peer.times.toFixed(2)} ×)`,
];

/** A page with the summary between its two marks. @throws TypeError when the marks are not there */
export function withSummary(page: string, summary: string): string {
  const [before, rest] = page.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new TypeError(`the page has no ${START} … ${END}`);
  return `${before}${START}\n${summary}\n${END}${after}`;
}

/** What stands between the marks. */
export function summaryOf(page: string): string | undefined {
  return page.split(START)[1]?.split(END)[0]?.trim();
}

const figure = (cost: number) => (cost < 100 ? cost.toFixed(1) : cost.toFixed(0));
