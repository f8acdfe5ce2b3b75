/** How weights are stored: `gguf` for llama.cpp, `mlx` (safetensors) for MLX. */
export type ModelFormat = 'gguf' | 'mlx';

/** A model that can be downloaded: one of the catalogue or of the manifest's own list. */
export interface Model {
  /** `org/name`, as on the hub. */
  readonly id: string;
  readonly name: string;
  readonly format: ModelFormat;
  /** Bytes of all its files. Rounded in the catalogue; the hub says it exactly. */
  readonly size: number;
  readonly quantization: string | null;
  readonly licence: string | null;
  /** Tokens it was trained to look at; null when unknown. */
  readonly context: number | null;
  /** The one file of a repository that holds many, or the first of its parts. */
  readonly file?: string;
  /** Branch, tag or commit; `main` when absent. */
  readonly revision?: string;
}

/** A model on this machine's disk. */
export interface LocalModel {
  readonly id: string;
  readonly format: ModelFormat;
  /** What an engine loads: a file for `gguf`, a folder for `mlx`. */
  readonly path: string;
  readonly size: number;
  readonly context: number | null;
}

/**
 * `org/name`. Neither part can be `..` or hold a separator, so that a folder of that name is safe.
 */
export const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
