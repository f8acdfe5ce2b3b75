import { unreachable } from '@twofold/runtime/store';
import type { Catalog } from './catalog/catalog.ts';
import { openRowReader } from './transfer/open-rows.ts';

export interface CatalogInput {
  /** `file:data/app.db` or `postgres://…` */
  readonly url: string;
  /** Folder that a relative file is in. */
  readonly root: string;
  /** Schemas of PostgreSQL. */
  readonly schemas?: readonly string[];
}

/**
 * Reads what a database says of itself, for `generator import`: in one transaction that only reads.
 *
 * @throws ConfigError when there is no such database.
 * @example await catalogOfDatabase({ url: 'file:shop.db', root: process.cwd() });
 */
export async function catalogOfDatabase({ url, root, schemas }: CatalogInput): Promise<Catalog> {
  try {
    const reader = await openRowReader(url, root, schemas);
    try {
      return (await reader.counted?.()) ?? reader.catalog;
    } finally {
      await reader.close();
    }
  } catch (error) {
    throw unreachable(error, url) ?? error;
  }
}
