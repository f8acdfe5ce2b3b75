import { failure } from '@twofold/runtime/errors';
import type { AppProcess, HostedApp } from './app.ts';

/** @throws AppError 400 */
export function assertProcesses(processes: readonly AppProcess[]): void {
  if (new Set(processes.map(({ name }) => name)).size < processes.length)
    throw failure.badRequest('processes must not use one name twice');
  for (const { name, resources } of processes)
    if (resources?.memory_mb !== undefined && resources.memory_mb > 0 && resources.memory_mb < 6)
      throw failure.badRequest(`processes: memory_mb of ${name} must be 0 or at least 6`);
}

/** An app as one of its processes sees it: with its command and limits, and without a health check. */
export function asProcess(app: HostedApp, { command, resources }: AppProcess): HostedApp {
  const { interval_s, timeout_s, retries } = app.spec.health;
  return {
    ...app,
    spec: {
      ...app.spec,
      command,
      resources: { ...app.spec.resources, ...resources },
      health: { interval_s, timeout_s, retries },
      builtHealth: null,
      ports: [],
    },
  };
}
