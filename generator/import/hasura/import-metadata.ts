import { environmentOf } from '../../secrets.ts';
import type { CommandCall } from '../../cli/command.ts';
import { CommandError } from '../../failure.ts';
import { catalogAt, keepUrl, nameOf, roleItems } from '../database/read-database.ts';
import type { Imported } from '../imported.ts';
import { importHasura } from './import-hasura.ts';
import { type Metadata, type MetadataSource, referenceOf } from './metadata.ts';
import { readMetadata } from './read-metadata.ts';

/** A project of Hasura as a source of an import. */
export interface HasuraProject {
  readonly imported: Imported;
  readonly source: string;
  readonly written: () => Promise<string | undefined>;
}

/** Where projects of Hasura keep their metadata. */
const USUAL = 'hasura/metadata';

/**
 * Reads the metadata, and the database that it is about. Nothing in either is changed.
 *
 * @throws CommandError when the metadata or the database cannot be read
 */
export async function importHasuraAt(
  root: string,
  { positionals, options }: CommandCall,
): Promise<HasuraProject> {
  const path = positionals[1] ?? USUAL;
  const metadata = readMetadata(root, path);
  const source = sourceOf(metadata);
  const url = await urlOf(root, source, options['database'] as string | undefined);
  const schemas = (source.tables ?? []).map(({ table }) => referenceOf(table).schema);
  const catalog = await catalogAt(root, url, [...new Set(['public', ...schemas])]);
  const user = options['user'] as string | undefined;
  const imported = importHasura({ metadata, source, catalog, user });
  return {
    imported: { ...imported, items: [...roleItems(catalog), ...imported.items] },
    source: `${path} and ${nameOf(url)}`,
    written: () => keepUrl(root, url),
  };
}

/** The source to import: the one called `default`, else the only one of PostgreSQL. */
function sourceOf({ sources }: Metadata): MetadataSource {
  const known = sources.filter(({ kind }) => kind === 'postgres');
  const source = known.find(({ name }) => name === 'default') ?? known[0];
  if (source) return source;
  throw new CommandError('PROVIDER_UNKNOWN', {
    message: 'the metadata has no database of PostgreSQL, which is the only one that can be served',
  });
}

/** The address of the database: the given one, the project's, or the one in the metadata. */
async function urlOf(
  root: string,
  source: MetadataSource,
  given: string | undefined,
): Promise<string> {
  const env = environmentOf(root);
  const url = given ?? env['DATABASE_URL'] ?? connectionOf(source, env);
  if (url !== undefined && url !== '') return url;
  throw new CommandError('URL_MISSING', {
    message: 'no database is named, and DATABASE_URL is not set',
    fix: 'generator import hasura hasura/metadata --database postgres://user:password@localhost/shop',
  });
}

function connectionOf(
  { configuration }: MetadataSource,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { connection_info: info } = (configuration ?? {}) as {
    connection_info?: { database_url?: string | { from_env?: string } };
  };
  const url = info?.database_url;
  return typeof url === 'object' ? env[url.from_env ?? ''] : url;
}
