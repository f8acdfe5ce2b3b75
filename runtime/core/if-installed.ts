import { auditRoutes, jobRoutes } from '@twofold/schema';
import { failure } from './errors.ts';
import type { Capability } from './capability.ts';
import type { Kernel, ServerModule } from './module.ts';

/** The path of a capability's pages, and when they are open. */
interface Opening {
  readonly path: string;
  readonly enabled: 'always' | 'development' | 'never';
}

/**
 * A capability without which a server can start, because production may leave out packages for
 * development. If its package is missing, requests to its pages get 503 with the command that
 * installs it.
 *
 * @example
 * await ifInstalled('@twofold/console', async () => (await import('@twofold/console/server')).webConsole(), consoleSettings)
 */
export async function ifInstalled(
  name: string,
  load: () => Promise<Capability>,
  opening: Opening,
): Promise<Capability> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(name, error)) throw error;
    return missing(name, opening);
  }
}

/** A package that is there and lacks a file, or a dependency, is broken rather than left out. */
const isMissing = (name: string, error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' &&
  (error as Error).message.includes(`Cannot find package '${name}'`);

function missing(name: string, { path, enabled }: Opening): Capability {
  const capability = name.slice(name.indexOf('/') + 1);
  return {
    name: capability,
    create: ({ log, settings }: Kernel, all): ServerModule => {
      // The first capability is the one that knows callers. Without it no caller has a permission.
      const refusals = all[0]?.name === capability ? { guards: REFUSALS } : {};
      const module = { name: `no ${name}`, ...refusals };
      if (enabled === 'never' || (enabled === 'development' && settings.production)) return module;
      const problem = `${name} is not installed: npm install --include=dev`;
      log.error(`${problem}. Until then ${path} answers 503`);
      return { ...module, endpoint: unavailable(path, problem) };
    },
  };
}

const refuse = () => {
  throw failure.unauthenticated();
};

/** Guards of the core's own routes for operators. They refuse all calls. */
const REFUSALS = Object.fromEntries(
  [...auditRoutes, ...jobRoutes, { access: 'data:read' }, { access: 'data:write' }].map(
    ({ access }) => [access, refuse],
  ),
);

function unavailable(path: string, error: string): NonNullable<ServerModule['endpoint']> {
  return function unavailablePages(ctx, next) {
    if (ctx.path !== path && !ctx.path.startsWith(`${path}/`)) return next();
    ctx.status = 503;
    ctx.body = { error };
    return undefined;
  };
}
