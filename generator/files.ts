import type { Diagnostic, SourceText } from '@twofold/schema';

/**
 * Who a file belongs to.
 *
 * - `generated`: always exactly what a run produces.
 * - `user`: written once if it is not there, then never again.
 * - `scaffold`: merged with what the user made of it, never overwritten.
 * - `append`: a new one may be added, an existing one is not touched.
 */
export type Owner = 'generated' | 'user' | 'scaffold' | 'append';

/** How the emitted project gets our packages: from tarballs that it carries, or from a registry. */
export type PackageSource = 'vendor' | 'registry';

/** Everything a run reads. Paths are relative to `root`, with forward slashes. */
export interface Sources {
  readonly root: string;
  readonly schema: readonly SourceText[];
  readonly manifest: SourceText | null;
  /** The user's optional files that are there, sorted: `src/extend.ts`, `src/resolvers/User.ts`, … */
  readonly userFiles: readonly string[];
  /** Texts of those in `src/resolvers/`. */
  readonly resolvers: readonly SourceText[];
  /** Texts of the others. */
  readonly otherUserTexts: readonly SourceText[];
  /** The migrations, in the order of their names. */
  readonly migrations: readonly SourceText[];
  /** Migrations that a run wrote, by `generator.lock`, and that are not there. */
  readonly lockedMigrations: readonly string[];
  /** Text of `src/scalars.ts`. */
  readonly scalars: string | null;
  readonly packages: PackageSource;
  /** Problems found while reading: a file that is not UTF-8, a folder where a file belongs. */
  readonly problems: readonly Diagnostic[];
}

/** A file that should exist, before its text is made. */
export interface PlannedFile {
  readonly path: string;
  readonly owner: Owner;
  readonly render: () => string | Promise<string>;
}

export interface RenderedFile {
  readonly path: string;
  readonly owner: Owner;
  readonly text: string;
}

/** What stands on disk: text by path, null for a file that is not there. */
export type TextsOnDisk = ReadonlyMap<string, string | null>;

/** What a run does, or would do, to one file. */
export interface FileChange {
  readonly path: string;
  readonly owner: Owner;
  readonly kind: FileChangeKind;
  /** The text on disk when the change was planned; null when there was no file. */
  readonly before: string | null;
  /** The text it will have; null when it is removed. */
  readonly after: string | null;
  /** Whether no run wrote the text on disk: it is then kept under `.generator/rescued/` before it is replaced. */
  readonly rescued?: boolean;
}

/**
 * `edited`: a generated file that the user changed; nothing is written until they decide. `stale`: nothing generates it
 * any more, but it was changed, so it stays. `conflict`: the scaffold's merge needs a person; the result is in a `.new` file.
 */
export type FileChangeKind =
  | 'create'
  | 'update'
  | 'remove'
  | 'same'
  | 'edited'
  | 'stale'
  | 'conflict';
