import type { Diagnostic, SourceText } from './diagnostic.ts';
import type { ColumnType, Project } from './model.ts';
import type { parseManifest } from './parse/manifest.ts';
import type { KnownPieces } from './parse/pieces.ts';
import type { UserHooks } from './build/facts.ts';

/** The two inputs as text. `manifest: null`: the server has only a schema. */
export interface ProjectInput {
  readonly schema: readonly SourceText[];
  readonly manifest: SourceText | null;
  /**
   * How the user's own scalars are stored, from `src/scalars.ts`. If given, a scalar that is
   * missing there is an error.
   */
  readonly scalars?: Readonly<Record<string, ColumnType>>;
  /** The entities with a file in `src/hooks/`, and whether a hook of it completes creates. */
  readonly hooks?: UserHooks;
  /** Whether `beforeRegister` in `src/auth-hooks.ts` completes the rows of users. */
  readonly completesUser?: boolean;
  /** The results of earlier readings, for a caller that reads again and again. */
  readonly known?: Known;
}

/** The meaning of the two inputs. */
export interface ProjectReading {
  /** Null if there is any error. */
  readonly project: Project | null;
  readonly diagnostics: Diagnostic[];
}

/** Results that a caller keeps from one reading to the next. */
export interface Known {
  /** The last reading and its input. */
  last: { readonly given: Omit<ProjectInput, 'known'>; readonly reading: ProjectReading } | null;
  /** The parsed pieces of the last schema that could be parsed. */
  readonly pieces: KnownPieces;
  /** The last manifest and its values. */
  manifest: {
    readonly source: SourceText | null;
    readonly reading: ReturnType<typeof parseManifest>;
  } | null;
  /** The last complete model. */
  project: Project | null;
}
