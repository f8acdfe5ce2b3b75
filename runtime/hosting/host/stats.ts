import type { Core } from './core.ts';
import type { ContainerUsage } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';

/** The header of figures in the format of Prometheus. */
export const PROMETHEUS = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };

/** The current usage of one replica. */
export interface ReplicaStats {
  readonly replica: number;
  readonly container: string;
  /** Percent of one core: 150 means one and a half cores. Null until there are two samples. */
  readonly cpu_percent: number | null;
  readonly cpu_seconds: number;
  readonly memory_bytes: number;
  readonly memory_limit_bytes: number;
  readonly network_in_bytes: number;
  readonly network_out_bytes: number;
  readonly pids: number;
}

/** Reads the usage of containers, and keeps the last samples, because a rate needs two. */
export interface StatsReader {
  read(app: HostedApp): Promise<ReplicaStats[]>;
}

interface Sample {
  readonly at: number;
  readonly cpu: number;
}

/** Milliseconds. Two samples with a shorter distance give no useful rate. */
const MIN_INTERVAL = 50;

export function createStatsReader(core: Core): StatsReader {
  const samples = new Map<string, Sample>();
  return {
    async read(app) {
      // The ingress knows the running containers, and the engine answers list requests slowly.
      const targets = core.ingress.get(app.id)?.targets ?? [];
      const usages = await Promise.all(targets.map(({ id }) => core.connection.engine().usage(id)));
      return targets.flatMap(({ id }, replica) =>
        usages[replica] ? [describe(id, replica, usages[replica])] : [],
      );
    },
  };

  function describe(id: string, replica: number, usage: ContainerUsage): ReplicaStats {
    const at = core.now();
    const before = samples.get(id);
    if (!before || at - before.at >= MIN_INTERVAL) samples.set(id, { at, cpu: usage.cpu });
    if (samples.size > 10_000) samples.clear();
    const rate =
      before && at - before.at >= MIN_INTERVAL
        ? ((usage.cpu - before.cpu) / 1e6 / (at - before.at)) * 100
        : null;
    return {
      replica,
      container: id.slice(0, 12),
      cpu_percent: rate === null ? null : Math.max(0, Math.round(rate * 100) / 100),
      cpu_seconds: usage.cpu / 1e9,
      memory_bytes: usage.memory,
      memory_limit_bytes: usage.memoryLimit,
      network_in_bytes: usage.networkIn,
      network_out_bytes: usage.networkOut,
      pids: usage.pids,
    };
  }
}

const METRICS = [
  ['twofold_app_cpu_seconds_total', 'counter', 'CPU time used', 'cpu_seconds'],
  ['twofold_app_memory_bytes', 'gauge', 'Memory used', 'memory_bytes'],
  ['twofold_app_memory_limit_bytes', 'gauge', 'Memory limit', 'memory_limit_bytes'],
  ['twofold_app_network_receive_bytes_total', 'counter', 'Bytes received', 'network_in_bytes'],
  ['twofold_app_network_transmit_bytes_total', 'counter', 'Bytes sent', 'network_out_bytes'],
  ['twofold_app_pids', 'gauge', 'Processes and threads', 'pids'],
] as const;

/**
 * The same values as Prometheus text, version 0.0.4. Names need no escaping, because the names of
 * apps contain only letters, digits and hyphens.
 */
export function renderMetrics(
  apps: readonly { readonly app: HostedApp; readonly replicas: readonly ReplicaStats[] }[],
): string {
  const lines = [
    '# HELP twofold_app_up Whether the app runs',
    '# TYPE twofold_app_up gauge',
    ...apps.map(
      ({ app }) => `twofold_app_up{app="${app.name}"} ${app.status === 'running' ? 1 : 0}`,
    ),
  ];
  lines.push(
    '# HELP twofold_app_restarts_total Times it was started again after it ended',
    '# TYPE twofold_app_restarts_total counter',
  );
  lines.push(
    ...apps.map(({ app }) => `twofold_app_restarts_total{app="${app.name}"} ${app.restarts}`),
  );
  for (const [name, type, help, field] of METRICS) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const { app, replicas } of apps)
      for (const replica of replicas)
        lines.push(`${name}{app="${app.name}",replica="${replica.replica}"} ${replica[field]}`);
  }
  return `${lines.join('\n')}\n`;
}
