import type { AppSpec, DeployedConfig, HostedApp, AppProcess } from './app.ts';
import { failure } from '@twofold/runtime/errors';

/** The fields of a spec that act by a deployment. The others act at once. */
const FIELDS = [
  'volumes',
  'resources',
  'health',
  'builtHealth',
  'command',
  'entrypoint',
  'user',
  'working_dir',
  'init',
  'stop_grace_period',
  'project',
  'networks',
  'ports',
] as const satisfies readonly (keyof AppSpec)[];

/** The part of an app to keep when its containers serve. */
export function deployedConfig({ spec, env, secrets, files = [] }: HostedApp): DeployedConfig {
  return { spec: fieldsOf(spec), env, secrets, files };
}

/**
 * An app as its containers are: to judge them, to start them again, and to replace one. An app that
 * an earlier version has deployed has only its present configuration.
 */
export function asDeployed(app: HostedApp): HostedApp {
  if (!app.deployed) return app;
  const { spec, ...rest } = app.deployed;
  return { ...app, ...rest, spec: { ...app.spec, ...fieldsOf(spec) } as AppSpec };
}

/** Every field is named, so that one that was not set replaces one that is set now. */
const fieldsOf = (spec: DeployedConfig['spec']): DeployedConfig['spec'] =>
  Object.fromEntries(FIELDS.map((key) => [key, spec[key]]));

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
