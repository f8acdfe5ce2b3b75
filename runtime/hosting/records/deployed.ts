import type { AppSpec, DeployedConfig, HostedApp } from './app.ts';

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
