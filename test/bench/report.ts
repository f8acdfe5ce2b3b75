import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Running } from './contender.ts';
import { type Measured, median, ratio, type Results } from './measure.ts';
import { contenders } from './servers/index.ts';
import type { Shape } from './shape.ts';
import type { Comparison, Line } from './summary.ts';
import type { Workload } from './workloads.ts';

const print = (line = '') => process.stdout.write(`${line}\n`);

/** When and where a run was made. */
export function machineOf(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${availableParallelism()} cores (${model}), load ${loadavg()[0]?.toFixed(1)}`;
}

/** Where and how a run was made: a load above the number of cores makes every server slower, and those with more code most. */
export function printMachine(rounds: number): void {
  print(`${machineOf()}; medians of ${rounds} interleaved rounds.`);
}

/** Microseconds of CPU for a request, and how often that is ours. */
export function printTable(
  title: string,
  servers: readonly Running[],
  workloads: readonly Workload[],
  results: Results,
): void {
  print(`\n### ${title}: µs of CPU a request (times ours)\n`);
  print(`| | ${workloads.map((workload) => workload.title).join(' | ')} |`);
  print(`|---|${workloads.map(() => '---:|').join('')}`);
  for (const { name, title: server } of servers) {
    const cells = workloads.map((workload) => {
      const costs = samplesOf(results, workload.name, name);
      return `${round(median(costs))} (${ratio(costs, samplesOf(results, workload.name, 'twofold')).toFixed(2)})`;
    });
    print(`| ${server} | ${cells.join(' | ')} |`);
  }
}

interface Goal {
  readonly on: string;
  readonly workload: string;
  /** At most this many times the hand-written handler. */
  readonly limit?: number;
  /** At least this many times faster than the fastest peer. */
  readonly faster?: number;
}

const GOALS: readonly Goal[] = [
  { on: 'SQLite', workload: 'posts', limit: 1.15, faster: 2.3 },
  { on: 'SQLite', workload: 'users', limit: 1.15, faster: 2.7 },
  { on: 'SQLite', workload: 'byId', limit: 1.25, faster: 1.3 },
  { on: 'SQLite', workload: 'static', faster: 1 },
  { on: 'SQLite', workload: 'mixed', faster: 1 },
  { on: 'SQLite', workload: 'create', limit: 1.3 },
  { on: 'PostgreSQL', workload: 'posts', limit: 1.25, faster: 2.5 },
  { on: 'PostgreSQL', workload: 'users', limit: 1.25, faster: 2.5 },
  { on: 'PostgreSQL', workload: 'byId', limit: 1.25 },
  { on: 'PostgreSQL', workload: 'create', limit: 1.3 },
];

/** Neither this server nor the limit, nor one that does less than the others. */
const NOT_PEERS = [
  'twofold',
  'hand',
  ...contenders.filter(({ tokenOnly }) => tokenOnly).map(({ name }) => name),
];

/** The goals of the contract beside what was measured. @returns those that were not met. */
export function printGoals(title: string, results: Results): string[] {
  print(`\n| ${title} | by hand | goal | fastest peer | goal | |`);
  print('|---|---:|---:|---:|---:|---|');
  return GOALS.filter(({ on, workload }) => on === title && results.has(workload)).flatMap(
    (goal) => (printGoal(goal, results) ? [] : [`${title} ${goal.workload}`]),
  );
}

function printGoal({ workload, limit, faster }: Goal, results: Results): boolean {
  const ours = samplesOf(results, workload, 'twofold');
  const hand = results.get(workload)?.get('hand');
  const times = hand && ratio(ours, hand);
  const { peer, least } = fastestPeer(results, workload, ours);
  const met =
    (limit === undefined || times === undefined || times <= limit) &&
    (faster === undefined || least === undefined || least >= faster);
  const cells = [
    workload,
    times === undefined ? '' : `${times.toFixed(2)} ×`,
    limit === undefined ? '' : `≤ ${limit} ×`,
    least === undefined ? '' : `${least.toFixed(2)} × faster than ${peer}`,
    faster === undefined ? '' : `≥ ${faster} ×`,
    met ? 'met' : 'not met',
  ];
  print(`| ${cells.join(' | ')} |`);
  return met;
}

function fastestPeer(
  results: Results,
  workload: string,
  ours: readonly number[],
): { peer?: string; least?: number } {
  const peers = [...(results.get(workload) ?? [])].filter(([name]) => !NOT_PEERS.includes(name));
  const [first] = peers
    .map(([peer, costs]) => ({ peer, least: ratio(costs, ours) }))
    .toSorted((a, b) => a.least - b.least);
  return first ?? {};
}

/** Each workload in one line; none where a shape has nobody to compare with. */
export function linesOf(
  database: string,
  workloads: readonly Workload[],
  measured: Measured,
  shapes: readonly Shape[],
): Line[] {
  return workloads.flatMap(({ name, title }) => {
    const comparisons = shapes.flatMap((shape) => comparisonOf(name, measured[shape]));
    return comparisons.length === shapes.length
      ? [{ title: `${database}: ${title}`, comparisons }]
      : [];
  });
}

function comparisonOf(workload: string, results: Results): Comparison[] {
  const ours = samplesOf(results, workload, 'twofold');
  const byHand = samplesOf(results, workload, 'hand');
  const { peer, least } = fastestPeer(results, workload, ours);
  if (ours.length === 0 || byHand.length === 0 || peer === undefined || least === undefined)
    return [];
  const hand = { cost: median(byHand), times: ratio(ours, byHand) };
  const known = contenders.find((contender) => contender.name === peer)?.title ?? peer;
  const cost = median(samplesOf(results, workload, peer));
  return [{ ours: median(ours), hand, peer: { name: known, cost, times: least } }];
}

/** What the tables do not show: one line each. */
export interface Aside {
  readonly what: string;
  readonly seen: string;
  readonly goal: string;
  /** Undefined where this machine cannot tell. */
  readonly met: boolean | undefined;
}

export function printAsides(asides: readonly Aside[]): string[] {
  print('\n| Beside the tables | seen | goal | |');
  print('|---|---:|---:|---|');
  for (const { what, seen, goal, met } of asides)
    print(
      `| ${what} | ${seen} | ${goal} | ${met === undefined ? 'not shown' : met ? 'met' : 'not met'} |`,
    );
  return asides.filter(({ met }) => met !== true).map(({ what }) => what);
}

export function printVerdict(missed: readonly string[]): void {
  print(
    `\n${missed.length === 0 ? 'Every goal was met.' : `Not met in this run: ${missed.join(', ')}.`} Load at the end ${loadavg()[0]?.toFixed(1)}.`,
  );
}

const samplesOf = (results: Results, workload: string, server: string) =>
  results.get(workload)?.get(server) ?? [];

const round = (cost: number) => (cost < 100 ? cost.toFixed(1) : cost.toFixed(0));
