/** How weights are stored: `gguf` for llama.cpp, `mlx` (safetensors) for MLX. */
export type ModelFormat = 'gguf' | 'mlx';

/** A model that can be downloaded: one of the catalogue or of the manifest's own list. */
export interface Model {
  /** `org/name`, as on the hub. */
  readonly id: string;
  readonly name: string;
  readonly format: ModelFormat;
  /** Bytes of all its files. Rounded in the catalogue, exact after a request to the hub. */
  readonly size: number;
  readonly quantization: string | null;
  readonly licence: string | null;
  /** Context size of the training, in tokens; null when unknown. */
  readonly context: number | null;
  /** The file to load if the repository has several models, or the first of its parts. */
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

/** `org/name`. Neither part can be `..` or contain a separator, so the id can be used as a path. */
export const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
