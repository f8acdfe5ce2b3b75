import type { Diagnostic, SourceText } from '@twofold/schema';
import type { ReadDocuments } from './documents/read-documents.ts';

/** The types of the schema. It is the only file of ours that an entry of `codegen:` may name. */
export const TYPES_FILE = 'src/generated/types.ts';

/**
 * Who a file belongs to.
 *
 * - `generated`: always exactly what a run produces.
 * - `user`: written once if it is not there, then never again.
 * - `scaffold`: merged with what the user made of it, never overwritten.
 * - `append`: a new one may be added, an existing one is not touched.
 */
export type Owner = 'generated' | 'user' | 'scaffold' | 'append';

/**
 * Where the emitted project takes our packages from: tarballs in its `vendor` folder, or a
 * registry.
 */
export type PackageSource = 'vendor' | 'registry';

/** Everything a run reads. Paths are relative to `root`, with forward slashes. */
export interface Sources {
  readonly root: string;
  readonly schema: readonly SourceText[];
  readonly manifest: SourceText | null;
  /** The user's optional files that exist, sorted: `src/extend.ts`, `src/resolvers/User.ts`, … */
  readonly userFiles: readonly string[];
  /** Texts of the user's files in `src/resolvers/`. */
  readonly resolvers: readonly SourceText[];
  /** Texts of the user's other files. */
  readonly otherUserTexts: readonly SourceText[];
  /** Texts of the files of the console's own pages, sorted; absent without any. */
  readonly pages?: { readonly folder: string; readonly texts: readonly SourceText[] };
  /** The documents of each front end, in the order of the manifest; absent without `client:`. */
  readonly documents?: readonly ReadDocuments[];
  /** The migrations, in the order of their names. */
  readonly migrations: readonly SourceText[];
  /** Migrations that are in `generator.lock`, because a run wrote them, but not on disk. */
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

/** The texts on disk by path, null for a file that does not exist. */
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
  /**
   * Whether the text on disk was not written by a run: it is then copied to `.generator/rescued/`
   * before it is replaced.
   */
  readonly rescued?: boolean;
  /** A file that is not text, as a tarball: its texts have a character for each byte. */
  readonly binary?: boolean;
}

/**
 * `edited`: the user changed a generated file; nothing is written until they decide. `stale`: the
 * file is no longer generated, but it was changed, so it stays. `conflict`: the user has to merge
 * the scaffold; the new text is in a `.new` file.
 */
export type FileChangeKind =
  | 'create'
  | 'update'
  | 'remove'
  | 'same'
  | 'edited'
  | 'stale'
  | 'conflict';

/**
 * The generator's folder in the project: run lock, journal of a commit, rescued texts and scaffold
 * bases.
 */
export const FOLDER = '.generator';

/**
 * Renders the text of every planned file. Everything is rendered before the first byte is written.
 */
export async function renderFiles(files: readonly PlannedFile[]): Promise<RenderedFile[]> {
  return Promise.all(
    files.map(async ({ path, owner, render }) => ({ path, owner, text: await render() })),
  );
}
