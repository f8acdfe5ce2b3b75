import type { Readable } from 'node:stream';
import type { LocalModel, ModelFormat } from '../model.ts';

export type EngineName = 'mlx' | 'llamacpp' | 'openai';

/** A call of the OpenAI API, on its way to the model that runs. */
export interface Question {
  readonly method: 'GET' | 'POST';
  /** Below `/v1`: `chat/completions`. */
  readonly path: string;
  /** JSON; null for a GET. */
  readonly body: string | null;
  /** The caller's `Accept`. */
  readonly accept: string;
  /** Aborted when the caller does not wait for the answer any more. */
  readonly signal: AbortSignal;
}

/** What came back, as it comes. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Fails when the engine ends in the middle of it. */
  readonly body: Readable;
}

/** How a running model is reached. */
export interface Endpoint {
  /** What the engine calls the model in a request. */
  readonly model: string;
  /** Rejects when the engine ends before it has answered. */
  ask(question: Question): Promise<Answer>;
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
