import type { LocalModel, ModelFormat } from '../model.ts';

export type EngineName = 'mlx' | 'llamacpp' | 'openai';

/** Where a running model answers. */
export interface Endpoint {
  /** Up to and with `/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the engine calls the model in a request. */
  readonly model: string;
}

export interface StartOptions {
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal;
  /** Told once when a model that had started ends without having been stopped. */
  readonly onExit: (reason: string) => void;
}

/** A model that an attached server has; nothing of it is on our disk. */
export interface RemoteModel {
  readonly id: string;
}

/** What runs models. It runs one at a time. */
export interface ModelEngine {
  readonly name: EngineName;
  readonly formats: readonly ModelFormat[];
  /** Whether it can run here: null, or why not and what to do about it. */
  eligible(): Promise<string | null>;
  /** Resolves when the model answers. @throws AppError 502 when it does not. */
  start(model: LocalModel, options: StartOptions): Promise<Endpoint>;
  /** Ends what runs; does nothing when nothing does. */
  stop(): Promise<void>;
  /** Whether the running model answers now. */
  health(): Promise<boolean>;
  /** What the attached server offers. */
  models?(): Promise<readonly RemoteModel[]>;
}
