/** A plugin of an entry, and its own part of the configuration. */
export interface PluginUse {
  readonly name: string;
  readonly config: unknown;
}

/** One output of `codegen:`, with the words of graphql-codegen's `generates`. */
export interface CodegenEntry {
  /** The file, or the folder of a preset, as the manifest has it. */
  readonly path: string;
  readonly plugins: readonly PluginUse[];
  readonly preset?: string;
  readonly presetConfig: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  /** Globs of its own; those of `client:` when absent. */
  readonly documents?: readonly string[];
  /** The place of the entry in the manifest. */
  readonly at: { readonly line: number; readonly column: number; readonly length: number };
}

/** A text with documents, as graphql-codegen's loaders give it. */
export interface CodegenDocument {
  readonly location: string;
  readonly text: string;
}

/** The data for the thread that runs plugins. */
export interface CodegenTask {
  readonly root: string;
  readonly sdl: string;
  readonly entries: readonly {
    readonly entry: CodegenEntry;
    readonly documents: readonly CodegenDocument[];
  }[];
}

/** The files of one entry, or why there are none. */
export type CodegenResult =
  | { readonly path: string; readonly files: readonly CodegenFile[] }
  | { readonly path: string; readonly failure: CodegenFailure };

export interface CodegenFile {
  /** The path in the folder of the project, in the form that the plugin or preset uses. */
  readonly path: string;
  readonly text: string;
}

export interface CodegenFailure {
  /** Absent where the whole entry failed. */
  readonly plugin?: string;
  readonly message: string;
}
