import type { Capability } from './capability.ts';
import type { Kernel, ServerModule } from './module.ts';

/** Where the pages of a capability answer, and when. */
interface Opening {
  readonly path: string;
  readonly enabled: 'always' | 'development' | 'never';
}

/**
 * A capability without which a server starts, too: production may leave out packages that only
 * development uses. In its place, requests to its pages get 503 with the command that installs it.
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
  return {
    name: name.slice(name.indexOf('/') + 1),
    create: ({ log, settings }: Kernel): ServerModule | null => {
      if (enabled === 'never' || (enabled === 'development' && settings.production)) return null;
      const problem = `${name} is not installed: npm install --include=dev`;
      log.error(`${problem}. Until then ${path} answers 503`);
      return { name: `no ${name}`, endpoint: unavailable(path, problem) };
    },
  };
}

function unavailable(path: string, error: string): NonNullable<ServerModule['endpoint']> {
  return function unavailablePages(ctx, next) {
    if (ctx.path !== path && !ctx.path.startsWith(`${path}/`)) return next();
    ctx.status = 503;
    ctx.body = { error };
    return undefined;
  };
}
