import type { AppVolume, HealthCheck, Resources } from '../records/app.ts';
import type { BuildSettings } from '../records/build-settings.ts';
import type { AppPort } from '../records/ports.ts';
import type { FileField } from '../records/process-fields.ts';

/** What a service of a compose file asks of its app: the fields of the API, and two more. */
export interface ComposeFields {
  readonly port: number | null;
  readonly ports: readonly AppPort[];
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly user: string | null;
  readonly working_dir: string | null;
  readonly init?: boolean;
  readonly stop_grace_period: number | null;
  readonly replicas: number;
  readonly resources: Partial<Resources>;
  readonly health: Partial<HealthCheck>;
  readonly volumes: readonly AppVolume[];
}

export interface ComposeApp {
  readonly service: string;
  readonly name: string;
  /** Null when it is built. */
  readonly image: string | null;
  readonly build: BuildSettings | null;
  readonly fields: ComposeFields;
  readonly networks: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly FileField[];
  /** The services that start before it. */
  readonly after: readonly string[];
  /** Whether another service waits until this one has ended well: it is a run, and no app that stays. */
  readonly once: boolean;
}

/** A small file of the source. */
export interface SourceFile {
  readonly content: Buffer;
  readonly executable: boolean;
}

/** What a compose file is read with. */
export interface ComposeContext {
  readonly project: string;
  /** For `${NAME}`, and for variables without a value. */
  readonly env: Readonly<Record<string, string>>;
  /** Null when only the text was sent. */
  readonly source: ComposeSource | null;
}

export interface ComposeSource {
  /** Undefined when the source has no such file. */
  file(path: string): SourceFile | undefined;
  /** The files below a folder, by their path in it. */
  folder(path: string): ReadonlyMap<string, SourceFile>;
  /** Whether the source has files below a folder, of any size. */
  hasFolder(path: string): boolean;
}
