import type { DocumentNode } from 'graphql';
import type { Diagnostic } from './diagnostic.ts';
import type { ColumnType, Project } from './model.ts';
import type { parseManifest } from './parse/manifest.ts';
import type { KnownPieces } from './parse/pieces.ts';
import type { SourceText } from './source.ts';

/** The two inputs as text. `manifest: null`: a server that was given nothing but a schema. */
export interface ProjectInput {
  readonly schema: readonly SourceText[];
  readonly manifest: SourceText | null;
  /**
   * How the user's own scalars are stored, from `src/scalars.ts`. When given, a scalar that is not
   * in it is an error.
   */
  readonly scalars?: Readonly<Record<string, ColumnType>>;
  /** Given by a caller that reads again and again: what the readings before have understood. */
  readonly known?: Known;
}

/** What the two inputs mean. */
export interface ProjectReading {
  /** Null if there is any error. */
  readonly project: Project | null;
  /**
   * The definitions as graphql-js parsed them, what `api.crud` adds among them; null if the text
   * could not be parsed.
   */
  readonly document: DocumentNode | null;
  readonly diagnostics: Diagnostic[];
}

/** What a caller that reads again and again keeps from one reading to the next. */
export interface Known {
  /** The last reading, and of what. */
  last: { readonly given: Omit<ProjectInput, 'known'>; readonly reading: ProjectReading } | null;
  /** The parsed pieces of the last schema that could be parsed. */
  readonly pieces: KnownPieces;
  /** The last manifest, and what it says. */
  manifest: {
    readonly source: SourceText | null;
    readonly reading: ReturnType<typeof parseManifest>;
  } | null;
  /** The last model that was whole. */
  project: Project | null;
}
