import type { Running } from './contender.ts';
import type { Results } from './measure.ts';
import type { Workload } from './workloads.ts';

const print = (line = '') => process.stdout.write(`${line}\n`);

/** Microseconds of CPU for a request, and how often that is ours. */
export function printTable(title: string, servers: readonly Running[], workloads: readonly Workload[], results: Results): void {
  print(`\n### ${title}: µs of CPU a request (times ours)\n`);
  print(`| | ${workloads.map((workload) => workload.title).join(' | ')} |`);
  print(`|---|${workloads.map(() => '---:|').join('')}`);
  for (const { name, title: server } of servers) {
    const cells = workloads.map((workload) => {
      const cost = costOf(results, workload.name, name);
      const ours = costOf(results, workload.name, 'twofold');
      return `${round(cost)} (${(cost / ours).toFixed(2)})`;
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

const NOT_PEERS = ['twofold', 'hand'];

/** The goals of the contract beside what was measured. */
export function printGoals(title: string, results: Results): void {
  print(`\n| ${title} | by hand | goal | fastest peer | goal | |`);
  print('|---|---:|---:|---:|---:|---|');
  for (const { workload, limit, faster } of GOALS.filter(({ on }) => on === title)) {
    const costs = results.get(workload);
    const ours = costs?.get('twofold');
    if (!costs || ours === undefined) continue;
    const hand = costs.get('hand');
    const [peer, least] = [...costs].filter(([name]) => !NOT_PEERS.includes(name)).toSorted((a, b) => a[1] - b[1])[0] ?? [];
    const met = (limit === undefined || hand === undefined || ours / hand <= limit) && (faster === undefined || least === undefined || least / ours >= faster);
    const cells = [
      workload,
      hand === undefined ? '' : `${(ours / hand).toFixed(2)} ×`,
      limit === undefined ? '' : `≤ ${limit} ×`,
      least === undefined ? '' : `${(least / ours).toFixed(2)} × faster than ${peer}`,
      faster === undefined ? '' : `≥ ${faster} ×`,
      met ? 'met' : 'not met',
    ];
    print(`| ${cells.join(' | ')} |`);
  }
}

const costOf = (results: Results, workload: string, server: string) => results.get(workload)?.get(server) ?? NaN;

const round = (cost: number) => (cost < 100 ? cost.toFixed(1) : cost.toFixed(0));
