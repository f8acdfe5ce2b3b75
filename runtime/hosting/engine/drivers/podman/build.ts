import { randomUUID } from 'node:crypto';
import type { FoundEngine } from '../../dockerode/client.ts';
import type { PreparedBuild } from '../../dockerode/dialect.ts';
import type { BuildOptions } from '../../images.ts';
import { killGroup } from './build-processes.ts';

/**
 * Prepares a build of Podman: its network, its secrets, and a control group by which its processes
 * are found.
 */
export function preparePodmanBuild(
  { info }: FoundEngine,
  { secrets, signal }: BuildOptions,
): PreparedBuild {
  const id = randomUUID();
  const group = `twofold-build-${id}`;
  const names = Object.keys(secrets);
  const files = names.map((_, index) => `.twofold-secret-${id}-${index}`);
  return {
    query: {
      // Without this option, RUN uses the host's network regardless of `networkmode`, and reaches
      // services on the loopback interface.
      nsoptions: JSON.stringify([{ Name: 'network', Host: false }]),
      // Podman moves these files out of the context before it builds.
      ...(names.length > 0 && {
        secrets: JSON.stringify(names.map((name, index) => `id=${name},src=${files[index]}`)),
      }),
      ...(!isRootless(info) && { cgroupparent: `/${group}` }),
    },
    files: Object.fromEntries(names.map((name, index) => [files[index], secrets[name] as string])),
    // Podman ends a build whose request was given up, but not the command that runs in it.
    end: async () => {
      if (signal.aborted) await killGroup(group);
    },
  };
}

/** Without root, a build cannot choose its control group. */
const isRootless = ({ SecurityOptions }: FoundEngine['info']): boolean =>
  SecurityOptions?.some((option) => option.includes('rootless')) ?? false;
