import { dockerDriver } from './docker/docker.ts';
import type { Driver } from './driver.ts';
import { podmanDriver } from './podman/podman.ts';
import { swarmDriver } from './swarm/swarm.ts';

/** All drivers, in the order in which engines are tried. */
export const DRIVERS: readonly Driver[] = [dockerDriver, podmanDriver, swarmDriver];
