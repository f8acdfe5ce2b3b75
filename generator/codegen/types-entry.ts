import { posix } from 'node:path';
import type { Project } from '@twofold/schema';
import { PRINTED_LINE } from '../../templates/owned/types.ts';
import { scalarTypes } from '../../templates/owned/scalar-types.ts';
import { TYPES_FILE } from '../files.ts';
import type { CodegenEntry, CodegenFile } from './entry.ts';

/** Whether the entry prints the types of the schema in `src/generated/types.ts`. */
export const isTypesEntry = ({ path, preset }: Pick<CodegenEntry, 'path' | 'preset'>): boolean =>
  preset === undefined && posix.normalize(path) === TYPES_FILE;

const PLUGINS = ['typescript', 'typescript-resolvers'].map((name) => ({ name, config: {} }));

/**
 * The entry with the options that give the plugins' types the names and the meaning of ours. Options
 * of the entry itself win.
 */
export function withOurNames(entry: CodegenEntry, project: Project): CodegenEntry {
  if (!isTypesEntry(entry)) return entry;
  const { plugins, config } = entry;
  return {
    ...entry,
    plugins: plugins.length > 0 ? plugins : PLUGINS,
    config: {
      ...OPTIONS,
      ...config,
      scalars: { ...scalarTypes(project), ...(config['scalars'] as object | undefined) },
      mappers: { ...rowsOf(project), ...(config['mappers'] as object | undefined) },
    },
  };
}

const OPTIONS = {
  contextType: 'Context',
  namingConvention: 'keep',
  enumsAsTypes: true,
  skipTypename: true,
  useTypeImports: true,
  makeResolverTypeCallable: true,
  maybeValue: 'T | null',
  inputMaybeValue: 'T | null | undefined',
  defaultScalarType: 'unknown',
};

/** Resolvers of an entity get a row, and return one. */
const rowsOf = ({ entities }: Project): Readonly<Record<string, string>> =>
  Object.fromEntries(entities.map(({ name }) => [name, `${name}Row`]));

/** In this file `Scalars` is the table of `src/scalars.ts`, so that of the plugins is renamed. */
export function renamed({ path, text }: CodegenFile): CodegenFile {
  return {
    path,
    text: text
      .replace(/\bScalars(?=\[')/g, 'ScalarTypes')
      .replace('export type Scalars = ', 'export type ScalarTypes = '),
  };
}

/** The text of the plugins in a whole `src/generated/types.ts`. */
export function printedIn(text: string): string {
  const at = text.indexOf(PRINTED_LINE);
  return at < 0 ? '' : text.slice(at + PRINTED_LINE.length);
}
