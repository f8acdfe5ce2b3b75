import { posix } from 'node:path';
import type { ClientSettings } from '@twofold/schema';
import type { CodegenEntry } from './entry.ts';

/** Plugins of graphql-codegen that print the same text with documents and without. */
const READ_THE_SCHEMA: ReadonlySet<string> = new Set([
  'add',
  'fragment-matcher',
  'introspection',
  'schema-ast',
  'time',
  'typescript',
  'typescript-mongodb',
  'typescript-resolvers',
  'typescript-validation-schema',
  'urql-introspection',
]);

/**
 * Whether an entry writes into a front end, or needs the documents of one: `--no-client` leaves it
 * alone. What another plugin than these prints may depend on the documents of `client:`.
 */
export function needsFrontEnd(
  { path, plugins, preset, documents }: CodegenEntry,
  clients: readonly Pick<ClientSettings, 'documents'>[] = [],
): boolean {
  if (isOutside(path) || preset !== undefined) return true;
  const readsSchema = plugins.every(({ name }) => READ_THE_SCHEMA.has(shortName(name)));
  const globs = documents ?? (readsSchema ? [] : clients.flatMap((each) => each.documents));
  return globs.some(isOutside);
}

const isOutside = (path: string) => posix.normalize(path).startsWith('../');

const shortName = (name: string) => name.replace(/^@graphql-codegen\//, '');
