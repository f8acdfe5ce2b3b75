import type Dockerode from 'dockerode';
import type { EngineError } from '../errors.ts';
import type { LogFormat } from './records.ts';

/** The file on this machine to which an engine writes a container's output. */
export interface LogPlace {
  readonly path: string;
  readonly format: LogFormat;
  /** Whether more output may be written. */
  readonly open: boolean;
  /**
   * Calls `onEnd` once, when nothing more will be written. `failure` is set when the engine has
   * become unreachable.
   */
  watchEnd(onEnd: (failure?: EngineError) => void): { close(): void };
}

/** Returns null when there is no such file or its format is not supported. */
export type FindLogPlace = (client: Dockerode, id: string) => Promise<LogPlace | null>;
