import type Dockerode from 'dockerode';
import type { EngineError } from '../errors.ts';
import type { LogFormat } from './records.ts';

/** Where an engine on this machine writes a container's output. */
export interface LogPlace {
  readonly path: string;
  readonly format: LogFormat;
  /** Whether more may come. */
  readonly open: boolean;
  /** Tells once when nothing more will be written; why, when the engine went away. */
  watchEnd(onEnd: (failure?: EngineError) => void): { close(): void };
}

/** Null when there is no file, or none that can be read so. */
export type FindLogPlace = (client: Dockerode, id: string) => Promise<LogPlace | null>;
