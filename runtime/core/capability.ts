import { capabilitiesOf } from '@twofold/schema';
import type { Project } from '@twofold/schema';
import { ConfigError } from './errors.ts';
import type { Kernel, ServerModule } from './module.ts';

/**
 * A part of the server that has a package of its own: signing in, hosting apps, language models. A project lists those
 * that its manifest asks for; nothing else of them is installed or loaded.
 *
 * @example defineApp({ project, capabilities: [auth({ extend }), hosting(), models()] });
 */
export interface Capability {
  /** The name that it has in the manifest and as a folder. */
  readonly name: string;
  /**
   * Makes its module; null when it works inside the module of another capability, which finds it in `all`.
   *
   * @param all what the project lists, this one among them.
   */
  create(
    kernel: Kernel,
    all: readonly Capability[],
  ): ServerModule | null | Promise<ServerModule | null>;
}

/**
 * Makes the modules of what a project lists, in the order of the list: guards and callers are known before they are used.
 *
 * @throws ConfigError when the manifest asks for a capability that the project does not list: without it the server would
 * answer requests that the manifest protects.
 */
export async function createCapabilities(
  kernel: Kernel,
  listed: readonly Capability[],
): Promise<ServerModule[]> {
  assertListed(kernel.project, listed);
  const modules: ServerModule[] = [];
  for (const capability of listed) {
    const module = await capability.create(kernel, listed);
    if (module) modules.push(module);
  }
  return modules;
}

function assertListed(project: Project, listed: readonly Capability[]): void {
  const names = new Set(listed.map(({ name }) => name));
  const missing = capabilitiesOf(project).filter(({ name }) => !names.has(name));
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(
      ({ name, package: from }) =>
        `the manifest asks for ${name}, and the app does not list it: add ${name}() from ${from} to its capabilities`,
    ),
  );
}
