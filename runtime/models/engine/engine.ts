import type { Readable } from 'node:stream';
import type { LocalModel, ModelFormat } from '../model.ts';

export type EngineName = 'mlx' | 'llamacpp' | 'openai';

/** A call of the OpenAI API to the running model. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST';
  /** Path below `/v1`, such as `chat/completions`. */
  readonly path: string;
  /** JSON text; null for a GET. */
  readonly body: string | null;
  /** The `Accept` header of the caller. */
  readonly accept: string;
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal;
}

/** The response of the engine, as a stream. */
export interface EngineResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Fails when the engine ends before the response is complete. */
  readonly body: Readable;
}

/** The connection to a running model. */
export interface Endpoint {
  /** The name of the model in a request to the engine. */
  readonly model: string;
  /** Layers on graphics cards, where the engine says it. */
  readonly layersOnGpu?: number;
  /** Rejects when the engine ends before it answers. */
  ask(request: EngineRequest): Promise<EngineResponse>;
}

export interface StartOptions {
  /** Aborted to cancel the start. */
  readonly signal: AbortSignal;
  /** Called once if the model ends after its start without `stop`. */
  readonly onExit: (reason: string) => void;
}

/** A model of an attached server. It has no files on this machine. */
export interface RemoteModel {
  readonly id: string;
}

/** A program that runs models, one at a time. */
export interface OneEngine {
  readonly name: EngineName;
  readonly formats: readonly ModelFormat[];
  /** Null if the engine can run on this machine, otherwise the reason and what to do. */
  eligible(): Promise<string | null>;
  /** Starts a model and resolves when it answers. @throws AppError 502 when it does not. */
  start(model: LocalModel, options: StartOptions): Promise<Endpoint>;
  /** Stops the running model, if there is one. */
  stop(): Promise<void>;
  /** Whether the running model answers now. */
  health(): Promise<boolean>;
  /** Models of the attached server. */
  models?(): Promise<readonly RemoteModel[]>;
}

/** An engine of which there may be several, each with a model of its own. */
export interface ModelEngine extends OneEngine {
  /** A further engine of the same kind, with no model. */
  another(): OneEngine;
}
