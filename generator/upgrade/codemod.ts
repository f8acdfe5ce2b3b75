import type { TextEdit } from './text-edits.ts';

/** A file of the project that is the user's. */
export interface ProjectText {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** A place that a person has to change, because no edit is certain to be right. */
export interface ByHand {
  readonly at: number;
  readonly what: string;
}

export interface CodemodResult {
  readonly edits: readonly TextEdit[];
  readonly byHand?: readonly ByHand[];
}

/**
 * A change of the user's files that a version needs. It only names positions and new texts: the
 * characters outside of them cannot change. Run on its own result, it finds nothing to do.
 */
export interface Codemod {
  /** The version that needs it: an upgrade from an older version runs it. */
  readonly version: string;
  readonly name: string;
  /** What it changes, as a sentence. */
  readonly about: string;
  /** Whether it reads a file. */
  readonly reads: (path: string) => boolean;
  readonly edit: (file: ProjectText) => CodemodResult | Promise<CodemodResult>;
}
