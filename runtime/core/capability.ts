import { capabilitiesOf } from '@twofold/schema';
import type { Project, RouteSpec } from '@twofold/schema';
import { ConfigError } from './errors.ts';
import type { Kernel, ServerModule } from './module.ts';

/**
 * An application that the server itself serves, with rules of its own for its sign-in: the console.
 * Its requests name it as `client`.
 */
export interface OwnApplication {
  readonly client: string;
  /** The name of the application for people, and its path. */
  readonly title: string;
  readonly path: string;
  /**
   * The longest lifetimes, in milliseconds: of an access token, of a session without a refresh, and
   * of a session.
   */
  readonly access: number;
  readonly idle: number;
  readonly absolute: number;
  /** Whether it accepts sign-ins at the moment. */
  readonly open: boolean;
  /** Whether the operator may. */
  readonly host: boolean;
  /** The roles whose users may, and the permissions that each has in addition to its own. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
}

/**
 * A part of the server in a package of its own: authentication, hosting, language models. A project
 * lists the capabilities that its manifest configures, and only those are installed and loaded.
 *
 * @example defineApp({ project, capabilities: [auth({ extend }), hosting(), models()] });
 */
export interface Capability {
  /** Its name in the manifest, which is also the name of its folders. */
  readonly name: string;
  /** The table of its flows, for documents. It is there without a server. */
  readonly flows?: readonly RouteSpec[];
  /** Whether it reads the server's own log and figures, which are then kept in memory. */
  recorder?(project: Project): boolean;
  /** The application that it serves in this project. */
  application?(kernel: Kernel): OwnApplication | null;
  /**
   * Makes the capability's module. Null when another capability's module includes it and finds it
   * in `all`.
   *
   * @param all all capabilities of the project, including this one.
   */
  create(
    kernel: Kernel,
    all: readonly Capability[],
  ): ServerModule | null | Promise<ServerModule | null>;
}

/**
 * Makes the modules of the listed capabilities, in the order of the list, so that guards and
 * callers are known before they are used.
 *
 * @throws ConfigError when the manifest configures a capability that the project does not list: the
 * server would then answer requests that the manifest protects.
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
