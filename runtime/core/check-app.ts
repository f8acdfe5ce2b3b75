import { adoptDatabase } from './adopted/adopt-database.ts';
import type { Misfit } from './adopted/misfit.ts';
import type { App } from './app.ts';
import { boot, type BootOptions, reachingDatabase } from './boot.ts';

/**
 * Everything in which the schema and the catalog of the database do not agree, for `generator check
 * --database`. It only reads.
 *
 * @example (await misfitsOfApp(app)).map(({ object }) => object) // ['music.Track.Name']
 */
export async function misfitsOfApp(app: App, options?: BootOptions): Promise<readonly Misfit[]> {
  const { kernel, misfits } = await boot(app, options);
  try {
    if (misfits) return misfits;
    return await reachingDatabase(
      kernel,
      async () => (await adoptDatabase(kernel.project, kernel.store)).misfits,
    );
  } finally {
    await kernel.store.close();
  }
}
