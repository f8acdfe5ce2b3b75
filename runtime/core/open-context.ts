import type { App } from './app.ts';
import { boot, type BootOptions } from './boot.ts';
import { prepareDatabase } from './database-at-start.ts';
import type { RequestContext } from './context/request-context.ts';
import { systemContext } from './own-context/system-context.ts';

/** A context outside of a server. */
export type OpenContext<Context = RequestContext> = Context & {
  /** Closes the database. */
  close(): Promise<void>;
};

/**
 * The context of a script or a test: the app's database, its data API and its hooks, without rules
 * and without a server. The database is migrated like at the start of the server.
 *
 * @example
 * const ctx = await openContext<types.Context>(app);
 * await ctx.data.article.create({ data: { title: 'Hello' } });
 * await ctx.close();
 */
export async function openContext<Context = RequestContext>(
  app: App,
  options?: BootOptions,
): Promise<OpenContext<Context>> {
  const booted = await boot(app, options);
  const { kernel, modules } = booted;
  try {
    await prepareDatabase(app, booted);
  } catch (error) {
    await kernel.store.close();
    throw error;
  }
  const close = async () => {
    for (const module of modules.toReversed()) await module.stop?.();
    await kernel.store.close();
    kernel.log.flush();
  };
  return Object.assign(systemContext(kernel), { close }) as unknown as OpenContext<Context>;
}
