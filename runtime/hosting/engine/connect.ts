import { existsSync } from 'node:fs';
import type { HostingModel } from '@twofold/schema';
import type { Environment } from '@twofold/runtime/kernel';
import type { Driver, Once } from './drivers/driver.ts';
import type { Engine } from './engine.ts';
import { EngineError, toEngineError } from './errors.ts';
import { dockerDriver } from './drivers/docker/docker.ts';
import { podmanDriver } from './drivers/podman/podman.ts';
import { swarmDriver } from './drivers/swarm/swarm.ts';

type EngineChoice = HostingModel['engine'];

/**
 * Finds an engine that answers: at the manifest's socket, else at `DOCKER_HOST`, else at the usual
 * addresses. When the manifest names a kind of engine, other kinds are not used.
 *
 * @throws EngineError `unavailable` when none answers.
 */
export async function connectEngine(choice: EngineChoice, env: Environment): Promise<Engine> {
  const drivers = DRIVERS.filter(({ kind, automatic }) =>
    choice.kind === 'auto' ? automatic : kind === choice.kind,
  );
  const tried = new Set<string>();
  for (const address of addressesOf(drivers, choice, env)) {
    const note = (error: unknown) => void tried.add(`${address}: ${toEngineError(error).message}`);
    const once = createOnce();
    for (const driver of drivers)
      try {
        return await driver.connect(address, env, once);
      } catch (error) {
        note(error);
      }
  }
  throw new EngineError(
    'unavailable',
    tried.size > 0
      ? `No container engine answers (${[...tried].join('; ')})`
      : 'No container engine was found',
  );
}

function createOnce(): Once {
  const begun = new Map<string, Promise<unknown>>();
  return <T>(name: string, work: () => Promise<T>) => {
    if (!begun.has(name)) begun.set(name, work());
    return begun.get(name) as Promise<T>;
  };
}

function addressesOf(
  drivers: readonly Driver[],
  { socket }: EngineChoice,
  env: Environment,
): readonly string[] {
  const given = socket ?? env.DOCKER_HOST;
  if (given) return [given];
  return drivers
    .flatMap((driver) => driver.addresses(env))
    .filter((path): path is string => path !== undefined && existsSync(path));
}

/** All drivers, in the order in which engines are tried. */
export const DRIVERS: readonly Driver[] = [dockerDriver, podmanDriver, swarmDriver];
